import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The version that everything here is pinned to (go/kubernetes/go.mod). */
export const KUBERNETES_VERSION = '1.36.3';

export const COMPONENTS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
export type ComponentName = (typeof COMPONENTS)[number];
const PROGRAMS = [...COMPONENTS, 'kubectl'] as const;
type ProgramName = (typeof PROGRAMS)[number];

/** Where each executable is, or why there is none. */
export type Binaries =
  | { readonly kind: 'found'; readonly paths: Readonly<Record<ProgramName, string>> }
  | { readonly kind: 'missing'; readonly because: string };

type Environment = Readonly<Record<string, string | undefined>>;

const MODULE = fileURLToPath(new URL('./go/kubernetes/', import.meta.url));
const VERSION_FLAG = `k8s.io/component-base/version.gitVersion=v${KUBERNETES_VERSION}`;
const CLIENT_VERSION_FLAG = `k8s.io/client-go/pkg/version.gitVersion=v${KUBERNETES_VERSION}`;

/**
 * Looks in `KUBEBUILDER_ASSETS`, then in the user's cache folder, and builds there from Go modules what is missing
 * (minutes the first time, never again).
 */
export function findBinaries(env: Environment): Binaries {
  const assets = env['KUBEBUILDER_ASSETS'];
  if (assets !== undefined) return inFolder(assets);
  const cache = join(
    env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
    'plimsoll',
    `kubernetes-${KUBERNETES_VERSION}`,
  );
  const cached = inFolder(cache);
  if (cached.kind === 'found') return cached;
  const failure = build(cache);
  return failure === undefined ? inFolder(cache) : { kind: 'missing', because: failure };
}

function inFolder(folder: string): Binaries {
  const missing = PROGRAMS.filter((name) => !existsSync(join(folder, name)));
  if (missing.length > 0) return { kind: 'missing', because: `no ${missing.join(', ')} in ${folder}` };
  const paths = Object.fromEntries(PROGRAMS.map((name) => [name, join(folder, name)]));
  return { kind: 'found', paths: paths as Record<ProgramName, string> };
}

/** What went wrong, if anything did. */
function build(folder: string): string | undefined {
  if (spawnSync('go', ['version']).status !== 0) return 'Go is not installed, so Kubernetes cannot be built';
  mkdirSync(folder, { recursive: true });
  const commands = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kubectl'];
  const kubernetes = commands.map((name) => `k8s.io/kubernetes/cmd/${name}`);
  const flags = `-s -w -X ${VERSION_FLAG} -X ${CLIENT_VERSION_FLAG}`;
  return (
    goBuild(['-ldflags', flags, '-o', `${folder}/`, ...kubernetes]) ??
    goBuild(['-ldflags', '-s -w', '-o', join(folder, 'etcd'), 'go.etcd.io/etcd/server/v3'])
  );
}

function goBuild(args: readonly string[]): string | undefined {
  const env = { ...process.env, CGO_ENABLED: '0' };
  const { status } = spawnSync('go', ['build', '-trimpath', ...args], { cwd: MODULE, env, stdio: 'inherit' });
  return status === 0 ? undefined : `go build ended with ${status ?? 'a signal'}`;
}
