import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityMilliValue, quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { type Measurements, type PodUse, readCluster } from '#shared/domain/rescheduling/pass-cluster.ts';
import type { LimitsOf } from '#shared/domain/rescheduling/restraint.ts';
import { planPass } from '#shared/domain/rescheduling/plan-pass.ts';
import type { PassInput, ReschedulingResult } from '#shared/domain/rescheduling/pass.ts';
import type { ReschedulingMemory } from '#shared/domain/rescheduling/memory.ts';
import type { ReschedulingPolicy } from '#shared/domain/rescheduling/policy.ts';
import type { MoveRules } from '#shared/domain/rescheduling/running-pod.ts';
import { decodeBudget, decodeNamespace, decodeNode } from '#shared/kube/decode/decode-objects.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { required } from '#test/conformance/required.ts';

/* A cluster as the rescheduling vectors and the closed loop write it (README-rescheduling.md of the vectors). */

type Texts = Readonly<Record<string, string>>;

export interface RecordedNode {
  readonly name: string;
  readonly allocatable: Texts;
  readonly labels?: Texts;
  readonly taints?: readonly object[];
  readonly unschedulable?: boolean;
  readonly notReady?: boolean;
  readonly usage?: Texts;
}

export interface RecordedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node?: string;
  readonly phase: string;
  readonly startTime?: string;
  readonly priority: number;
  readonly owner?: { readonly kind: string; readonly name: string; readonly uid: string };
  readonly labels?: Texts;
  readonly annotations?: Texts;
  readonly requests?: Texts;
  readonly limits?: Texts;
  readonly usage?: Texts;
  readonly nodeSelector?: Texts;
  readonly affinity?: object;
  readonly tolerations?: readonly object[];
  readonly spread?: readonly object[];
  readonly restarts?: number;
  readonly localStorage?: boolean;
  readonly terminating?: boolean;
}

export interface RecordedBudget {
  readonly namespace: string;
  readonly name: string;
  readonly selector: object;
  readonly disruptionsAllowed: number;
  readonly maxPerHour?: number;
  readonly usedLastHour?: number;
}

export interface RecordedSnapshot {
  readonly time: string;
  readonly nodes: readonly RecordedNode[];
  readonly pods: readonly RecordedPod[];
  readonly budgets?: readonly RecordedBudget[];
  readonly namespaces?: readonly { readonly name: string; readonly labels?: Texts }[];
}

/** What a pass is asked with, but for the cluster. */
export interface Asked {
  readonly policy: ReschedulingPolicy;
  readonly rules: MoveRules;
  readonly memory: ReschedulingMemory;
  readonly most: number;
  /** Nodes to be avoided, by the UID of an owner. */
  readonly avoided?: (ownerUid: string) => ReadonlySet<string>;
}

const NO_NODES: ReadonlySet<string> = new Set();

/** Plans a pass on a recorded cluster, by the functions of the product. */
export function passOver(
  recorded: RecordedSnapshot,
  { policy, rules, memory, most, avoided = () => NO_NODES }: Asked,
): ReschedulingResult {
  const now = Date.parse(recorded.time);
  const snapshot = snapshotOf(recorded);
  // The oracle's kube-scheduler knows ReplicaSets only (`newScheduler` in place.go).
  const spreads = (kind: string): boolean => kind === 'ReplicaSet';
  const isSelected = policy.nodeSelector === undefined ? () => true : prepareSelector(policy.nodeSelector).matches;
  const cluster = finish(readCluster(snapshot, measurementsOf(recorded), { now, isSelected, spreads }));
  const avoidedBy: PassInput['avoidedBy'] = ({ key }) => avoided(key.uid ?? '');
  const limitsOf = limitsIn(recorded);
  return finish(planPass({ cluster, policy, rules, limitsOf, memory, most, avoidedBy, canAvoid: () => true }));
}

function snapshotOf({ nodes, pods, budgets = [], namespaces = [] }: RecordedSnapshot): ClusterSnapshot {
  return createSnapshot({
    nodes: nodes.map(nodeOf),
    pods: pods.map((pod) => required(decodePod(wirePod(pod)))),
    budgets: budgets.map(budgetOf),
    namespaces: namespaces.map(({ name, labels }) => required(decodeNamespace({ metadata: { name, labels } }))),
  });
}

/** The lifecycle controller of nodes would have tainted one that is not ready. */
function nodeOf({ name, allocatable, labels, taints = [], unschedulable, notReady }: RecordedNode): Node {
  const own = notReady === true ? [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] : [];
  return required(
    decodeNode({
      metadata: { name, uid: name, labels: { 'kubernetes.io/hostname': name, ...labels } },
      spec: { taints: [...taints, ...own], unschedulable },
      status: { allocatable },
    }),
  );
}

function wirePod(pod: RecordedPod): object {
  const { namespace, name, uid, labels, annotations, owner, phase, startTime } = pod;
  const isRunning = phase === 'Running';
  return {
    metadata: {
      namespace,
      name,
      uid,
      labels,
      annotations,
      ...(owner && { ownerReferences: [{ apiVersion: 'apps/v1', controller: true, ...owner }] }),
      ...(pod.terminating === true && { deletionTimestamp: startTime, deletionGracePeriodSeconds: 30 }),
    },
    spec: {
      nodeName: pod.node,
      priority: pod.priority,
      nodeSelector: pod.nodeSelector,
      affinity: pod.affinity,
      tolerations: pod.tolerations,
      topologySpreadConstraints: pod.spread,
      containers: [{ name: 'main', resources: { requests: pod.requests, limits: pod.limits } }],
      ...(pod.localStorage === true && { volumes: [{ name: 'scratch', emptyDir: {} }] }),
    },
    status: {
      phase,
      startTime,
      conditions: isRunning ? [{ type: 'Ready', status: 'True' }] : [],
      containerStatuses: [{ name: 'main', restartCount: pod.restarts }],
    },
  };
}

function budgetOf({ namespace, name, selector, disruptionsAllowed }: RecordedBudget): DisruptionBudget {
  return required(decodeBudget({ metadata: { namespace, name }, spec: { selector }, status: { disruptionsAllowed } }));
}

function measurementsOf({ nodes, pods }: RecordedSnapshot): Measurements {
  const ofNodes = new Map(nodes.map(({ name, usage }) => [name, useOf(usage)]));
  const ofPods = new Map(pods.map(({ uid, usage }) => [uid, useOf(usage)]));
  return { ofNode: (name) => ofNodes.get(name), ofPod: (uid) => ofPods.get(uid) };
}

function useOf(usage: Texts | undefined): PodUse | undefined {
  if (usage === undefined) return undefined;
  const [cpu, memory] = [parseQuantity(usage['cpu'] ?? '0'), parseQuantity(usage['memory'] ?? '0')];
  if (!cpu.ok || !memory.ok) return undefined;
  return { cpu: Number(quantityMilliValue(cpu.quantity)), memory: quantityNumber(memory.quantity) };
}

/** The rate of a budget, which no PodDisruptionBudget has. */
function limitsIn({ budgets = [] }: RecordedSnapshot): LimitsOf {
  const limits = budgets.flatMap((budget) => {
    const { maxPerHour = 0, usedLastHour = 0, namespace, name } = budget;
    if (maxPerHour === 0) return [];
    const { matches } = prepareSelector(budgetOf(budget).selector);
    const limit = { name: `${namespace}/${name}`, left: maxPerHour - usedLastHour };
    return [{ limit, covers: (pod: Pod) => pod.namespace === namespace && matches(pod.labels) }];
  });
  return (pod) => limits.filter(({ covers }) => covers(pod)).map(({ limit }) => limit);
}
