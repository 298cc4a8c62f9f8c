import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findKubelet } from '#test/cluster/binaries.ts';
import { type Environment, goPrograms, type GoRecipe, type Programs } from '#test/cluster/go-programs.ts';

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
      ...['-tags', CONTAINERD_TAGS, '-o', `${folder}/`],
      ...['-ldflags', `-s -w -X github.com/containerd/containerd/v2/version.Version=${CONTAINERD_VERSION}`],
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
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];
/** Programs of the machine and the Debian package each is in. */
const PACKAGES = { runc: 'runc', ip: 'iproute2', unshare: 'util-linux' } as const;

/** What a node on this machine is started from, or why there can be none. */
export function findNodePrograms(env: Environment): NodePrograms | { kind: 'missing'; because: string } {
  if (process.platform !== 'linux')
    return { kind: 'missing', because: `a node needs Linux, this is ${process.platform}` };
  if (process.getuid?.() !== 0)
    return { kind: 'missing', because: 'a node needs root: namespaces, mounts and cgroups' };
  const networkPlugins = PLUGIN_FOLDERS.find((folder) => existsSync(join(folder, 'bridge')));
  const missing = Object.entries(PACKAGES).flatMap(([program, it]) => (pathOf(program, env) === undefined ? [it] : []));
  if (networkPlugins === undefined || missing.length > 0) {
    const packages = [...missing, ...(networkPlugins === undefined ? ['containernetworking-plugins'] : [])];
    return { kind: 'missing', because: `these packages are not installed: ${packages.join(', ')}` };
  }
  return withBuilt([findKubelet(env), goPrograms(CONTAINERD, env), goPrograms(WORKLOAD, env)], {
    runc: pathOf('runc', env) ?? '',
    networkPlugins,
  });
}

function withBuilt(
  built: readonly Programs<never>[],
  { runc, networkPlugins }: { readonly runc: string; readonly networkPlugins: string },
): ReturnType<typeof findNodePrograms> {
  const missing = built.find((each) => each.kind === 'missing');
  if (missing?.kind === 'missing') return missing;
  const paths = Object.assign({ runc }, ...built.map((each) => (each.kind === 'found' ? each.paths : {})));
  return { kind: 'found', paths: paths as NodePrograms['paths'], networkPlugins };
}

/** Administrators' folders count too. */
function pathOf(program: string, env: Environment): string | undefined {
  const folders = [...(env['PATH'] ?? '').split(delimiter), ...SYSTEM_FOLDERS];
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

function moduleFolder(name: string): string {
  return fileURLToPath(new URL(`../go/${name}/`, import.meta.url));
}

function sourceHash(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16);
}
