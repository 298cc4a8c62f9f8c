import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { NodePrograms } from '#test/cluster/node/start/node-programs.ts';
import { baseRecipe } from '#test/cluster/guest/image/base-image.ts';
import type { FoundGuestTools } from '#test/cluster/guest/image/find-guest-tools.ts';
import { guestImage } from '#test/cluster/guest/image/guest-image.ts';
import { GUEST_PROGRAMS } from './guest-programs.ts';

const MODULES = '/modules';
/** In the order of loading: each needs those before it. */
const MODULE_PATHS = [
  'drivers/virtio/virtio_ring',
  'drivers/virtio/virtio',
  'drivers/virtio/virtio_pci_legacy_dev',
  'drivers/virtio/virtio_pci_modern_dev',
  'drivers/virtio/virtio_pci',
  'net/core/failover',
  'drivers/net/net_failover',
  'drivers/net/virtio_net',
  'fs/overlayfs/overlay',
  'net/llc/llc',
  'net/802/stp',
  'net/bridge/bridge',
  'drivers/net/veth',
].map((path) => `kernel/${path}.ko`);

/** Shell lines that load what a node needs of its kernel. */
export const LOAD_MODULES = MODULE_PATHS.map((path) => `insmod ${MODULES}/${path}\n`).join('');

/** The image of a guest that is a node of a cluster. */
export function nodeImage({ busybox, kernel }: FoundGuestTools, { paths, networkPlugins }: NodePrograms): string {
  const base = baseRecipe(busybox);
  const programs = Object.fromEntries(
    Object.entries(paths).map(([name, path]) => [GUEST_PROGRAMS.paths[name as keyof typeof paths], path]),
  );
  const plugins = inFolder(GUEST_PROGRAMS.networkPlugins, networkPlugins, readdirSync(networkPlugins));
  const modules = inFolder(MODULES, kernel.modules, MODULE_PATHS);
  return guestImage({
    ...base,
    name: 'node',
    programs: { ...base.programs, ...programs, ...plugins },
    copies: { ...base.copies, ...modules },
  });
}

function inFolder(to: string, from: string, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [`${to}/${name}`, join(from, name)]));
}
