import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pathOf } from '#test/cluster/guest/image/find-guest-tools.ts';
import type { Environment } from '#test/cluster/support/control-plane/go-programs.ts';

/** Runs buildah on a store of its own and gives what it prints; rejects with what it complains about. */
export type Buildah = (...args: readonly string[]) => Promise<string>;

/** Programs that building an image takes, and the Debian package each is in. */
const PACKAGES: Readonly<Record<string, string>> = {
  buildah: 'buildah',
  busybox: 'busybox-static',
  unshare: 'util-linux',
};

/** Its images are below the folder, and gone with it. No overlay mounts, which a container may refuse. */
export function buildahIn(folder: string): Buildah {
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
  return async (...args) => (await promisify(execFile)('buildah', [...store, ...args])).stdout.trim();
}

/** Why no image can be built here, for the name of a group; where `CI` runs as root, missing packages are a failure. */
export function whyNoBuildah(env: Environment): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return ' (not run: building an image needs Linux and root)';
  const missing = Object.entries(PACKAGES).filter(([program]) => pathOf(program) === undefined);
  if (spawnSync('npm', ['--version'], { env }).status !== 0) missing.push(['npm', 'npm']);
  if (missing.length === 0) return undefined;
  const because = `these packages are not installed: ${missing.map(([, name]) => name).join(', ')}`;
  if (env['CI'] !== undefined) throw new Error(`cannot build an image: ${because}`);
  return ` (not run: ${because})`;
}
