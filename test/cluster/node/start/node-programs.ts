import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findKubelet } from '#test/cluster/support/control-plane/binaries.ts';
import { pathOf } from '#test/cluster/guest/image/find-guest-tools.ts';
import {
  type Environment,
  goPrograms,
  type GoRecipe,
  type Programs,
} from '#test/cluster/support/control-plane/go-programs.ts';

type BuiltProgram = 'kubelet' | 'containerd' | 'containerd-shim-runc-v2' | 'ctr' | 'workload';

/** Everything a node is made of. */
export interface NodePrograms {
  readonly kind: 'found';
  readonly paths: Readonly<Record<BuiltProgram | 'runc', string>>;
  /** The folder of the CNI plugins. */
  readonly networkPlugins: string;
}

const CONTAINERD_VERSION = '2.2.9';
const CONTAINERD_TAGS = 'no_btrfs no_devmapper no_zfs osusergo netgo static_build';
const CONTAINERD: GoRecipe<'containerd' | 'containerd-shim-runc-v2' | 'ctr'> = {
  name: `containerd-${CONTAINERD_VERSION}`,
  module: moduleFolder('containerd'),
  programs: ['containerd', 'containerd-shim-runc-v2', 'ctr'],
  builds: (folder) => [
    [
      '-tags',
      CONTAINERD_TAGS,
      '-o',
      `${folder}/`,
      '-ldflags',
      `-s -w -X github.com/containerd/containerd/v2/version.Version=${CONTAINERD_VERSION}`,
      ...CONTAINERD.programs.map((name) => `github.com/containerd/containerd/v2/cmd/${name}`),
    ],
  ],
};

/** Its source is the version. */
const WORKLOAD: GoRecipe<'workload'> = {
  name: `workload-${sourceHash(join(moduleFolder('workload'), 'main.go'))}`,
  module: moduleFolder('workload'),
  programs: ['workload'],
  builds: (folder) => [['-ldflags', '-s -w', '-o', `${folder}/`, '.']],
};

const PLUGIN_FOLDERS = ['/opt/cni/bin', '/usr/lib/cni'];
/** Programs of the machine and the Debian package each is in. */
const PACKAGES: Readonly<Record<string, string>> = { runc: 'runc', ip: 'iproute2', unshare: 'util-linux' };

/** What a node on this machine is started from, or why there can be none. */
export function findNodePrograms(env: Environment): NodePrograms | { kind: 'missing'; because: string } {
  const because = unfitMachine() ?? missingPackages();
  if (because !== undefined) return { kind: 'missing', because };
  const built = findBuiltPrograms(env);
  if (built.kind === 'missing') return built;
  const paths = { runc: pathOf('runc') ?? '', ...built.paths };
  return { kind: 'found', paths, networkPlugins: pluginFolder() ?? '' };
}

/** Those that are built, whether or not this machine can be a node. */
export function findBuiltPrograms(env: Environment): Programs<BuiltProgram> {
  const [kubelet, containerd, workload] = [findKubelet(env), goPrograms(CONTAINERD, env), goPrograms(WORKLOAD, env)];
  if (kubelet.kind === 'missing') return kubelet;
  if (containerd.kind === 'missing') return containerd;
  if (workload.kind === 'missing') return workload;
  return { kind: 'found', paths: { ...kubelet.paths, ...containerd.paths, ...workload.paths } };
}

/** What no package mends. */
function unfitMachine(): string | undefined {
  if (process.platform !== 'linux') return `a node needs Linux, this is ${process.platform}`;
  return process.getuid?.() === 0 ? undefined : 'a node needs root: namespaces, mounts and cgroups';
}

/**
 * Why tests on a node are left out, for the name of their group. Where CI runs as root they are not: there they fail with
 * the reason.
 */
export function whyNoNode(env: Environment): string | undefined {
  const programs = findNodePrograms(env);
  const isLeftOut = env['CI'] === undefined || unfitMachine() !== undefined;
  return programs.kind === 'missing' && isLeftOut ? ` (not run: ${programs.because})` : undefined;
}

function missingPackages(): string | undefined {
  const needed = Object.entries(PACKAGES).filter(([program]) => pathOf(program) === undefined);
  const packages = needed.map(([, name]) => name);
  if (pluginFolder() === undefined) packages.push('containernetworking-plugins');
  return packages.length === 0 ? undefined : `these packages are not installed: ${packages.join(', ')}`;
}

function pluginFolder(): string | undefined {
  return PLUGIN_FOLDERS.find((folder) => existsSync(join(folder, 'bridge')));
}

function moduleFolder(name: string): string {
  return fileURLToPath(new URL(`../../go/${name}/`, import.meta.url));
}

function sourceHash(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16);
}
