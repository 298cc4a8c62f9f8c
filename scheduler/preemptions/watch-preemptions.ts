import { podName } from '#shared/domain/base/texts.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { DisruptionBudget, PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { spentBudgets } from '#shared/domain/placement/victims/victims-on-node.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { isBound, isKubeletRefusal, isPreempted } from '#shared/domain/pod/pod.ts';
import { nodeOrNominated } from '#shared/domain/snapshot/snapshot-pods.ts';
import { decodeObject, readObject, readText } from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { PreemptionLoops, ObservePod, ShownPod } from './preemption-loops.ts';

export interface PreemptionWatchOptions {
  readonly loops: Pick<PreemptionLoops, 'see'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly metrics: Metrics;
}

/** What a kubelet reports if two schedulers gave away the same room. */
const USUAL_REFUSALS = ['OutOfcpu', 'OutOfmemory', 'OutOfpods'];

/**
 * Follows what schedulers do to pods: it counts preempted pods, budgets that a preemption breached (S1-17) and pods
 * that a kubelet refused (S0-20), and tells `loops` which pods preempt which (S0-21).
 */
export function watchPreemptions({ loops, log, metrics }: PreemptionWatchOptions): ObservePod {
  const counters = createCounters(metrics);
  const breachesOf = countDebits();
  return (seen, snapshot) => {
    const change = podChange(seen);
    if (change === undefined) return;
    if (change.kind === 'refused') {
      counters.refused.add({ reason: change.reason });
      log.info(
        { pod: podName(seen.pod), node: seen.pod.spec.nodeName, reason: change.reason },
        'Pod refused by the kubelet',
      );
      return;
    }
    loops.see(change.kind === 'preempted' ? victimOf(seen, change) : undefined, nominatedIn(snapshot));
    if (change.kind === 'nominated') return;
    const breached = breachesOf(change.victim);
    counters.preempted.add({ budget: breached.length === 0 ? 'Kept' : 'Breached' });
    if (breached.length === 0) return;
    log.warn(
      { pod: podName(seen.pod), node: change.node, budgets: breached },
      'Disruption budget breached by a preemption',
    );
  };
}

/** The series start at 0, because Prometheus sees no increase in a series that starts at 1. */
function createCounters(metrics: Metrics) {
  const counters = {
    preempted: metrics.counter(
      'plimsoll_extender_preempted_pods_total',
      'Pods that schedulers preempted, by whether a PodDisruptionBudget had nothing left; each replica of the extender counts all',
      ['budget'],
    ),
    refused: metrics.counter(
      'plimsoll_extender_refused_pods_total',
      'Pods that a kubelet refused after a scheduler had bound them, by its reason; each replica of the extender counts all',
      ['reason'],
    ),
  };
  for (const budget of ['Kept', 'Breached']) counters.preempted.add({ budget }, 0);
  for (const reason of USUAL_REFUSALS) counters.refused.add({ reason }, 0);
  return counters;
}

function victimOf({ pod }: ShownPod, { victim, node }: { readonly victim: PlacedPod; readonly node: string }) {
  return { pod, node, priority: victim.priority };
}

function nominatedIn({ occupancies }: ClusterSnapshot) {
  return (node: string): readonly PlacedPod[] => occupancies.get(node)?.nominated ?? [];
}

/** Each status of a budget is a new object, so what a victim uses up is forgotten with the next status. */
function countDebits(): (victim: PlacedPod) => readonly string[] {
  const debits = new WeakMap<DisruptionBudget, number>();
  const debitOf = (budget: DisruptionBudget): number => debits.get(budget) ?? 0;
  return ({ pod, budgets }) => {
    const own = budgets.map(({ budget }) => budget);
    const spent = spentBudgets(pod, own, debitOf);
    for (const budget of own) debits.set(budget, debitOf(budget) + 1);
    return spent.map(({ namespace, name }) => `${namespace}/${name}`);
  };
}

/** The latest change of a pod, as far as it concerns preemption. */
export type PodNews =
  | { readonly kind: 'preempted'; readonly victim: PlacedPod; readonly node: string }
  | { readonly kind: 'nominated'; readonly node: string }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Compares a pod with its previous state. Changes before the pod was first seen are not reported: after a restart no
 * old preemption is counted again.
 */
export function podChange({ pod, raw, previous }: ShownPod): PodNews | undefined {
  const node = nodeOrNominated(pod);
  if (!isBound(pod))
    return node === '' || (previous && nodeOrNominated(previous.pod)) === node
      ? undefined
      : { kind: 'nominated', node };
  if (previous === undefined) return undefined;
  if (pod.status.phase === 'Failed') return refusal(raw);
  const isNewVictim = isPreempted(pod) && !isPreempted(previous.pod);
  return isNewVictim ? { kind: 'preempted', victim: previous, node } : undefined;
}

function refusal(raw: KubeObject): PodNews | undefined {
  const decoded = decodeObject(raw, (pod) => readObject(pod, 'status', (status) => readText(status, 'reason')));
  const reason = decoded.ok ? decoded.value : undefined;
  return reason !== undefined && isKubeletRefusal(reason) ? { kind: 'refused', reason } : undefined;
}
