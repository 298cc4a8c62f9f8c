import { fileURLToPath } from 'node:url';
import { type Environment, goPrograms, type GoRecipe, type Programs, programsIn } from './go-programs.ts';

/** A version of Kubernetes that tests run on, pinned by the go.mod in a folder of go/. */
interface Release {
  readonly version: string;
  readonly folder: string;
}

const RELEASES: Readonly<Record<string, Release>> = {
  '1.34': { version: '1.34.4', folder: 'kubernetes-1.34' },
  '1.35': { version: '1.35.4', folder: 'kubernetes-1.35' },
  '1.36': { version: '1.36.3', folder: 'kubernetes' },
  '1.37': { version: '1.37.2', folder: 'kubernetes-1.37' },
};
const NEWEST = '1.36';

export const COMPONENTS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
export type ComponentName = (typeof COMPONENTS)[number];
/** What a folder of ready programs must have. */
export const PROGRAMS = [...COMPONENTS, 'kubectl'] as const;
type ProgramName = (typeof PROGRAMS)[number];

/** Where each executable of a control plane is, or why there is none. */
export type Binaries = Programs<ProgramName>;

const COMMANDS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kubectl'];
/** The version under test, such as `1.36.3`: of the minor version in `PLIMSOLL_KUBERNETES`, or the newest. */
export function kubernetesVersion(env: Environment): string {
  return releaseOf(env).version;
}

/** Whether the version under test serves MutatingAdmissionPolicy as v1, as Kubernetes does from 1.36 on. */
export function servesMutatingPolicies(env: Environment): boolean {
  return minorOf(env) >= 36;
}

/** Whether its API server believes the QoS class in a request: from 1.37 on it computes it. */
export function takesQosClass(env: Environment): boolean {
  return minorOf(env) < 37;
}

/** The version and the gates by which it serves PodGroup and Workload; `undefined` before there is a PodGroup. */
export function groupsServed(env: Environment): { readonly version: string; readonly gates: string } | undefined {
  if (minorOf(env) < 36) return undefined;
  const gates = 'GenericWorkload=true,GangScheduling=true,WorkloadAwarePreemption=true';
  return minorOf(env) === 36 ? { version: 'v1alpha2', gates } : { version: 'v1beta1', gates: 'GenericWorkload=true' };
}

function minorOf(env: Environment): number {
  return Number(releaseOf(env).version.split('.')[1]);
}

function releaseOf(env: Environment): Release {
  const minor = env['PLIMSOLL_KUBERNETES'] ?? NEWEST;
  const release = RELEASES[minor];
  if (release !== undefined) return release;
  const known = Object.keys(RELEASES).join(', ');
  throw new Error(`cannot test on Kubernetes "${minor}" (PLIMSOLL_KUBERNETES): expected one of ${known}`);
}

function recipeOf(env: Environment): GoRecipe<ProgramName | 'kubelet'> {
  const { version, folder: module } = releaseOf(env);
  const inComponents = `k8s.io/component-base/version.gitVersion=v${version}`;
  const inClients = `k8s.io/client-go/pkg/version.gitVersion=v${version}`;
  return {
    name: `kubernetes-${version}`,
    module: fileURLToPath(new URL(`../../go/${module}/`, import.meta.url)),
    programs: [...PROGRAMS, 'kubelet'],
    builds: (folder) => [
      ['-ldflags', `-s -w -X ${inComponents} -X ${inClients}`, '-o', `${folder}/`, ...COMMANDS.map(packageOf)],
      ['-ldflags', '-s -w', '-o', `${folder}/etcd`, 'go.etcd.io/etcd/server/v3'],
    ],
  };
}

/** Looks in `KUBEBUILDER_ASSETS` if that is set, else in the user's cache folder, and builds there what is missing. */
export function findBinaries(env: Environment): Binaries {
  const assets = env['KUBEBUILDER_ASSETS'];
  return assets === undefined ? goPrograms(recipeOf(env), env) : programsIn(assets, PROGRAMS);
}

/** As `findBinaries`, for the kubelet, which ready-made assets do not have as a rule. */
export function findKubelet(env: Environment): Programs<'kubelet'> {
  const assets = env['KUBEBUILDER_ASSETS'];
  const given = assets === undefined ? undefined : programsIn(assets, ['kubelet']);
  return given?.kind === 'found' ? given : goPrograms(recipeOf(env), env);
}

function packageOf(command: string): string {
  return `k8s.io/kubernetes/cmd/${command}`;
}
