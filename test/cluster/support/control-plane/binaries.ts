import { fileURLToPath } from 'node:url';
import { type Environment, goPrograms, type GoRecipe, type Programs, programsIn } from './go-programs.ts';

/** The version that everything here is pinned to (go/kubernetes/go.mod). */
export const KUBERNETES_VERSION = '1.36.3';

export const COMPONENTS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
export type ComponentName = (typeof COMPONENTS)[number];
/** What a folder of ready programs must have. */
export const PROGRAMS = [...COMPONENTS, 'kubectl'] as const;
type ProgramName = (typeof PROGRAMS)[number];

/** Where each executable of a control plane is, or why there is none. */
export type Binaries = Programs<ProgramName>;

const COMMANDS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kubectl'];
const VERSION_FLAG = `k8s.io/component-base/version.gitVersion=v${KUBERNETES_VERSION}`;
const CLIENT_VERSION_FLAG = `k8s.io/client-go/pkg/version.gitVersion=v${KUBERNETES_VERSION}`;

const KUBERNETES: GoRecipe<ProgramName | 'kubelet'> = {
  name: `kubernetes-${KUBERNETES_VERSION}`,
  module: fileURLToPath(new URL('../../go/kubernetes/', import.meta.url)),
  programs: [...PROGRAMS, 'kubelet'],
  builds: (folder) => [
    ['-ldflags', `-s -w -X ${VERSION_FLAG} -X ${CLIENT_VERSION_FLAG}`, '-o', `${folder}/`, ...COMMANDS.map(packageOf)],
    ['-ldflags', '-s -w', '-o', `${folder}/etcd`, 'go.etcd.io/etcd/server/v3'],
  ],
};

/** Looks in `KUBEBUILDER_ASSETS` if that is set, else in the user's cache folder, and builds there what is missing. */
export function findBinaries(env: Environment): Binaries {
  const assets = env['KUBEBUILDER_ASSETS'];
  return assets === undefined ? goPrograms(KUBERNETES, env) : programsIn(assets, PROGRAMS);
}

/** As `findBinaries`, for the kubelet, which ready-made assets do not have as a rule. */
export function findKubelet(env: Environment): Programs<'kubelet'> {
  const assets = env['KUBEBUILDER_ASSETS'];
  const given = assets === undefined ? undefined : programsIn(assets, ['kubelet']);
  return given?.kind === 'found' ? given : goPrograms(KUBERNETES, env);
}

function packageOf(command: string): string {
  return `k8s.io/kubernetes/cmd/${command}`;
}
