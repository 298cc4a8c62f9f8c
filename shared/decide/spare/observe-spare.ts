import { NANO_PER_MILLI } from '#shared/domain/ranking/pod-usage.ts';
import { podRequests } from '#shared/domain/pod/pod-requests.ts';
import { readableBytes } from '#shared/domain/quantity/format-quantity.ts';
import { type Amounts, quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { resourceOf } from '#shared/domain/pressure/signal.ts';
import { nodeAmount, spareAmount, spareAmountText } from '#shared/domain/spare/spare-amounts.ts';
import type { BySpareKind, SpareKind } from '#shared/domain/spare/spare-resources.ts';
import { type AgentPolicy, thresholdMode } from '#shared/api/node-pressure-policy/policy.ts';
import { leastHeadroom } from '#shared/decide/eviction/memory-trend.ts';
import { decidingObservations } from '#shared/decide/eviction/snapshot/deciding-figures.ts';
import type { NodeSnapshot, PodsOnNode } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import type { SpareObservation } from './lendable.ts';
import { LENDING } from './messages.ts';

/** Bytes and millicores. */
type NodeAmounts = BySpareKind<number>;

/** The pods of a node that use spare room, and what they and all others request. */
export interface SparePods {
  readonly uids: readonly string[];
  readonly requested: NodeAmounts;
  readonly others: NodeAmounts;
}

/** Terminating pods count: the kubelet counts them too. */
export function sparePodsOf({ running }: Pick<PodsOnNode, 'running'>): SparePods {
  const { spare = [], others = [] } = Object.groupBy(running, ({ isInSpareRoom }) =>
    isInSpareRoom ? 'spare' : 'others',
  );
  const [ofSpare, ofOthers] = [requestsOf(spare), requestsOf(others)];
  return {
    uids: spare.map(({ pod }) => pod.uid),
    requested: { memory: total(ofSpare, spareAmount, 'memory'), cpu: total(ofSpare, spareAmount, 'cpu') },
    others: { memory: total(ofOthers, nodeAmount, 'memory'), cpu: total(ofOthers, nodeAmount, 'cpu') },
  };
}

function requestsOf(pods: PodsOnNode['running']): readonly Amounts[] {
  return pods.map(({ pod }) => podRequests(pod));
}

function total(requests: readonly Amounts[], amountIn: typeof nodeAmount, kind: SpareKind): number {
  return requests.reduce((sum, amounts) => sum + (amountIn(amounts, kind) ?? 0), 0);
}

/** What a pass saw; `undefined` while memory or CPU is not measured, or the amounts of the node are unknown. */
export function observeSpare(
  snapshot: NodeSnapshot,
  policy: AgentPolicy,
  pods: SparePods,
  allocatable: NodeAmounts,
): BySpareKind<SpareObservation> | undefined {
  const observations = decidingObservations(snapshot, policy);
  const memory = observations.get('memory.available');
  const { cpu } = snapshot;
  if (memory === undefined || cpu === undefined) return undefined;
  const [capacity, available] = [quantityNumber(memory.capacity), quantityNumber(memory.available)];
  const spareUsed = spareUsage(snapshot, pods);
  const headroom = leastHeadroom(policy.thresholds, observations);
  const objection = objectionTo(snapshot, policy);
  const [cores, idle] = [cpu.cores * MILLICORES, cpu.availableCores * MILLICORES];
  return {
    memory: {
      capacity,
      allocatable: allocatable.memory,
      ceiling: capacity - available + Math.min(headroom, available),
      used: Math.max(0, capacity - available - spareUsed.memory),
      requested: pods.others.memory,
      spare: { requested: pods.requested.memory, used: spareUsed.memory },
      textOf: readableBytes,
      objection,
    },
    cpu: {
      capacity: cores,
      allocatable: allocatable.cpu,
      ceiling: cores,
      used: Math.max(0, cores - idle - spareUsed.cpu),
      requested: pods.others.cpu,
      spare: { requested: pods.requested.cpu, used: spareUsed.cpu },
      textOf: (millicores) => spareAmountText('cpu', Math.round(millicores)),
      objection,
    },
  };
}

const MILLICORES = 1_000;

/** A pod that has not been measured yet counts as using nothing: until it settles, its request does. */
function spareUsage({ usage }: NodeSnapshot, { uids }: SparePods): NodeAmounts {
  const all = uids.map((uid) => usage.get(uid));
  return {
    memory: all.reduce((sum, each) => sum + (each?.memory?.workingSetBytes ?? 0), 0),
    cpu: all.reduce((sum, each) => sum + (each?.cpuNanoCores ?? 0), 0) / NANO_PER_MILLI,
  };
}

function objectionTo({ doubts }: NodeSnapshot, policy: AgentPolicy): SpareObservation['objection'] {
  if (doubts.has('memory.available')) return (facts) => LENDING.doubtful({}, facts);
  const evicts = policy.thresholds.some(
    (threshold) =>
      resourceOf(threshold.signal) === 'memory' &&
      (policy.mode === 'DryRun' || thresholdMode(threshold, policy) === 'Enforce'),
  );
  return evicts ? undefined : (facts) => LENDING.noThreshold({}, facts);
}
