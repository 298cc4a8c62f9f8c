import type { RandomSource } from '#test/fakes/random-source.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';

/** Nodes as people have them: of several sizes, closed in all ways, lost, and lying about what they have. */

const SIZES = [
  { cpu: '4', memory: '8Gi', pods: '110' },
  { cpu: '3920m', memory: '7843648Ki', pods: '29', 'ephemeral-storage': '18242267924' },
  { cpu: '8', memory: '32Gi', pods: '110', 'nvidia.com/gpu': '4' },
  { cpu: '16', memory: '64Gi', pods: '250', 'hugepages-2Mi': '1Gi', 'example.com/foo': '2' },
  { cpu: '1500m', memory: '2Gi', pods: '8' },
] as const;

/** What no node of these has: amounts of every spelling and size that the API server stores. */
const LIES = [
  { cpu: '100k', memory: '100Pi', pods: '110' },
  { cpu: '9007199254740993', memory: '9223372036854775807', pods: '110' },
  { cpu: '0', memory: '0', pods: '0' },
  { memory: '8Gi' },
  {},
  { cpu: '1m', memory: '1m', pods: '1' },
  { cpu: '4e0', memory: '8e9', pods: '11e1', 'vendor.example/new-type': '3' },
] as const;

const CLOSING_TAINTS = [
  ['node.kubernetes.io/unschedulable', 'NoSchedule'],
  ['node.kubernetes.io/not-ready', 'NoExecute'],
  ['node.kubernetes.io/unreachable', 'NoExecute'],
  ['node.kubernetes.io/out-of-service', 'NoExecute'],
  ['node.cloudprovider.kubernetes.io/uninitialized', 'NoSchedule'],
  ['node-role.kubernetes.io/control-plane', 'NoSchedule'],
  ['ToBeDeletedByClusterAutoscaler', 'NoSchedule'],
  ['DeletionCandidateOfClusterAutoscaler', 'PreferNoSchedule'],
  ['karpenter.sh/disrupted', 'NoSchedule'],
  ['karpenter.sh/unregistered', 'NoExecute'],
] as const;

/** Pods of some tenants tolerate it. */
export const DEDICATED = { key: 'dedicated', value: 'ml', effect: 'NoSchedule' } as const;
const ZONES = ['a', 'b', ''] as const;

/** The names of the nodes that pods may be on; some of them are on nodes that are not there. */
export const ABSENT_NODES = ['no-such-node', 'gone-1'] as const;

/** `wildness` is the share of what is out of the ordinary, from 0 to 1. */
export function wildNodes(random: RandomSource, wildness: number): readonly KubeObject[] {
  const count = 1 + random.below(wildness < 1 ? 3 : 6);
  return Array.from({ length: count }, (_, index) => wildNode(random, `n${index}`, wildness));
}

/** A node that reports what it does not have. */
export function lyingNode(name: string, lie: Readonly<Record<string, string>> = LIES[0]): KubeObject {
  return nodeObject(name, { allocatable: lie });
}

function wildNode(random: RandomSource, name: string, wildness: number): KubeObject {
  const isLying = random.chance(0.06 * wildness);
  const allocatable: Readonly<Record<string, string>> = isLying ? random.pick(LIES) : random.pick(SIZES);
  const zone = random.pick(ZONES);
  const kind = random.chance(wildness) ? random.below(12) : 11;
  const labels = { ...(zone !== '' && { 'topology.kubernetes.io/zone': zone }), ...(kind === 0 && { pool: 'ml' }) };
  const taints = kind === 0 ? [DEDICATED] : kind <= 2 ? [closingTaint(random)] : [];
  const unreadySince = kind === 4 ? random.pick(['2026-03-01T11:59:00Z', '2026-03-01T11:00:00Z']) : undefined;
  return nodeObject(name, { allocatable, labels, taints, isCordoned: kind === 3, unreadySince });
}

function closingTaint(random: RandomSource): object {
  const [key, effect] = random.pick(CLOSING_TAINTS);
  return { key, effect };
}

interface NodeTraits {
  readonly allocatable: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly object[];
  readonly isCordoned?: boolean;
  readonly unreadySince?: string | undefined;
}

function nodeObject(
  name: string,
  { allocatable, labels = {}, taints = [], isCordoned = false, unreadySince }: NodeTraits,
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `uid-${name}`, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec: { ...(taints.length > 0 && { taints }), ...(isCordoned && { unschedulable: true }) },
    status: {
      allocatable,
      capacity: allocatable,
      conditions: [
        unreadySince === undefined
          ? { type: 'Ready', status: 'True' }
          : { type: 'Ready', status: 'Unknown', lastTransitionTime: unreadySince },
      ],
    },
  };
}
