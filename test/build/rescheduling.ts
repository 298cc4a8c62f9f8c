import { HOUR_MS } from '#shared/domain/base/durations.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { NO_MEMORY, type ReschedulingMemory } from '#shared/domain/rescheduling/memory.ts';
import {
  type Measurements,
  NO_MEASUREMENTS,
  type PassCluster,
  type PassNode,
  readCluster,
} from '#shared/domain/rescheduling/pass-cluster.ts';
import { planPass } from '#shared/domain/rescheduling/plan-pass.ts';
import type { ReschedulingResult } from '#shared/domain/rescheduling/pass.ts';
import { DRY_RUN_POLICY, type ReschedulingPolicy, type UnderusedPolicy } from '#shared/domain/rescheduling/policy.ts';
import type { LimitsOf } from '#shared/domain/rescheduling/restraint.ts';
import { type MoveRules, type MovablePod, runningPod } from '#shared/domain/rescheduling/running-pod.ts';
import { type ClusterObjects, createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { ClusterSnapshot, NodePressureFacts } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { buildNode, buildPod, type PodFields } from './cluster.ts';

/** Noon of some day; pods that say nothing else started an hour before. */
export const NOON = 1_790_000_000_000;
/** Nodes of one size, one of them with devices. */
export const SIZE = { cpu: '10', memory: '20Gi' };
export const GPU = 'example.com/gpu';
export const A = buildNode({ name: 'a', allocatable: SIZE });
export const B = buildNode({ name: 'b', allocatable: SIZE });
export const WITH_GPU = buildNode({ name: 'g', allocatable: { ...SIZE, [GPU]: '4' } });

export interface ReplicaFields extends PodFields {
  readonly owner?: string;
  readonly ownerKind?: string;
}

/** A running, ready pod of a controller, which is labelled `app: OWNER`. */
export function replica(fields: ReplicaFields): Pod {
  const { owner = 'web', ownerKind = 'ReplicaSet' } = fields;
  const pod = buildPod({
    phase: 'Running',
    startedAt: NOON - HOUR_MS,
    conditions: [{ type: 'Ready', status: 'True', reason: '' }],
    requests: { cpu: '1', memory: '1Gi' },
    labels: { app: owner },
    ...fields,
  });
  const owners = [{ apiVersion: 'apps/v1', kind: ownerKind, name: owner, uid: `owner-${owner}`, isController: true }];
  return { ...pod, owners };
}

type Percent = Readonly<Record<string, number>>;

/** By requests, with whatever counts as low, unless a test says otherwise. */
export function underusedBy(
  target: Percent,
  change: Partial<Omit<UnderusedPolicy, 'low'> & { readonly low: Percent }> = {},
): UnderusedPolicy {
  const { low = {}, by = 'Requests', gain } = change;
  return { by, low: new Map(Object.entries(low)), target: new Map(Object.entries(target)), gain };
}

/** Pods of 1 CPU and 1 GiB by the node that they run on, two of each owner. */
export function podsOn(
  node: string,
  count: number,
  requests: Readonly<Record<string, string>> = { cpu: '1', memory: '1Gi' },
) {
  return Array.from({ length: count }, (_, n) =>
    replica({ name: `${node}${n}`, node, owner: `${node}-${Math.floor(n / 2)}`, requests }),
  );
}

/** Moves from nodes above 65 % to nodes below 45 %, on every node, without restraint. */
export const UNDERUSED: ReschedulingPolicy = {
  ...DRY_RUN_POLICY,
  name: 'even',
  mode: 'Enforce',
  affinity: undefined,
  aggressiveness: 'High',
};

/** Broken rules are mended, and preferences met. */
export const AFFINITY: ReschedulingPolicy = {
  ...UNDERUSED,
  name: 'rules',
  underused: undefined,
  affinity: DRY_RUN_POLICY.affinity,
};

export const MOVE_RULES: MoveRules = {
  protectedNamespaces: new Set(['kube-system']),
  optOutCeiling: 1_000_000,
  wantsToStay: ({ annotations }) => annotations.get('plimsoll.dev/evict') === 'never',
  fitElsewhere: true,
};

export interface PassCase extends Partial<ClusterObjects> {
  readonly policy?: ReschedulingPolicy;
  readonly rules?: MoveRules;
  readonly limitsOf?: LimitsOf;
  readonly memory?: ReschedulingMemory;
  readonly measurements?: Measurements;
  readonly pressures?: readonly NodePressureFacts[];
  readonly most?: number;
  readonly now?: number;
}

/** Plans a pass over a cluster that a test writes down. */
export function passOn(given: PassCase): ReschedulingResult {
  const { nodes = [], pods = [], budgets = [], namespaces = [], pressures = [] } = given;
  const snapshot = createSnapshot({ nodes, pods, budgets, namespaces });
  for (const facts of pressures) snapshot.pressures.set(facts.node, facts);
  return planOn(snapshot, given);
}

/** The cluster as a pass reads it. */
function clusterOf(snapshot: ClusterSnapshot, given: PassCase): PassCluster {
  const { policy = UNDERUSED, now = NOON, measurements = NO_MEASUREMENTS } = given;
  const isSelected = policy.nodeSelector === undefined ? () => true : prepareSelector(policy.nodeSelector).matches;
  return finish(readCluster(snapshot, measurements, { now, isSelected }));
}

/** The same of objects that a test writes down. */
export function clusterWith(given: PassCase): PassCluster {
  const { nodes = [], pods = [], budgets = [], namespaces = [] } = given;
  return clusterOf(createSnapshot({ nodes, pods, budgets, namespaces }), given);
}

/** The node of that name. */
export function nodeIn({ byName }: PassCluster, name: string): PassNode {
  const node = byName.get(name);
  if (node === undefined) throw new Error(`the test names no node ${name}`);
  return node;
}

/** The running pod of that name, which may be moved. */
export function runningIn(cluster: PassCluster, name: string): MovablePod {
  for (const node of cluster.nodes) {
    const placed = node.entry.occupancy.pods.find(({ pod }) => pod.name === name);
    const movable = placed && runningPod(cluster, [placed, node], MOVE_RULES);
    if (movable?.kind === 'movable') return movable.pod;
  }
  throw new Error(`the test has no movable pod ${name}`);
}

/** As `passOn`, on a snapshot that exists. */
export function planOn(snapshot: ClusterSnapshot, given: PassCase): ReschedulingResult {
  const { policy = UNDERUSED } = given;
  return finish(
    planPass({
      cluster: clusterOf(snapshot, given),
      policy,
      rules: given.rules ?? MOVE_RULES,
      limitsOf: given.limitsOf ?? (() => []),
      memory: given.memory ?? NO_MEMORY,
      most: given.most ?? 25,
      avoidedBy: () => new Set(),
      canAvoid: () => true,
    }),
  );
}

/** `POD FROM>TO` of each move, in the order of the pass. */
export function movesOf({ moves }: Pick<ReschedulingResult, 'moves'>): readonly string[] {
  return moves.map(({ pod, from, expectedOn }) => `${pod.placed.pod.name} ${from}>${expectedOn.join('|')}`);
}

/** The code of the reason for which a pod stays. */
export function codeOf({ stays }: ReschedulingResult, name: string): string | undefined {
  return stays.find(({ pod }) => pod.endsWith(`/${name}`))?.because.code;
}
