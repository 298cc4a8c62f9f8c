import { reportedQosClass } from '#shared/domain/pod/qos.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';

/** Rules for the choice among victims that kube-scheduler holds equal. */
export interface VictimRules {
  /** Among equal choices: victims that use more than they request, and nodes on which a threshold is met. */
  readonly usageAware: boolean;
  /** Among victims of equal priority on a node: `qos` preempts BestEffort before Burstable before Guaranteed. */
  readonly tieBreak: 'none' | 'qos';
}

/** Orders pods by importance: of two the one that sorts first stays. 0 leaves them in the order of kube-scheduler. */
export type VictimOrder = (a: PlacedPod, b: PlacedPod) => number;

/** The least important first. */
const QOS_CLASSES: readonly string[] = ['BestEffort', 'Burstable', 'Guaranteed'];

/**
 * The order among pods of one node where a rule asks for another one than kube-scheduler's; `undefined` where none does.
 * A lower priority is always less important. Mechanism S0-8.
 */
export function victimOrder(
  { usageAware, tieBreak }: VictimRules,
  overRequest: ReadonlySet<string>,
): VictimOrder | undefined {
  const byUsage = usageAware && overRequest.size > 0;
  const byQos = tieBreak === 'qos';
  if (!byUsage && !byQos) return undefined;
  return (a, b) =>
    b.priority - a.priority || (byUsage ? compareUsage(a, b, overRequest) : 0) || (byQos ? compareQos(a, b) : 0);
}

function compareUsage(a: PlacedPod, b: PlacedPod, overRequest: ReadonlySet<string>): number {
  return Number(overRequest.has(a.pod.uid)) - Number(overRequest.has(b.pod.uid));
}

function compareQos(a: PlacedPod, b: PlacedPod): number {
  return qosRank(b) - qosRank(a);
}

function qosRank({ pod }: PlacedPod): number {
  return QOS_CLASSES.indexOf(reportedQosClass(pod));
}
