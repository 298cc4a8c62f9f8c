import { type NodeEntry, type NodeSheet, priorityAt, sheetOf } from '#shared/domain/snapshot/node-entry.ts';
import { compareRank, type DisruptionBudget, type PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { controllerOf, type Instant, type Pod } from '#shared/domain/pod/pod.ts';
import { type PrefilterState, splitByBudgets } from '#shared/domain/placement/trial/prefilter-state.ts';
import { openTrial, putBack, refusalIn, takeOff } from '#shared/domain/placement/trial/trial.ts';
import { reportedQosClass } from '#shared/domain/pod/pod-requests.ts';
import { hasCriticalPriority, isMirrorOfNode } from '#shared/domain/eviction/protection.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { type NodeCandidate, candidateOf, type NoLowerPods, type StillRefused } from './choose-node.ts';

/** Whether a pod may be preempted at all, in addition to the rule that a victim's priority is strictly lower. */
export type MayTake = (pod: Pod) => boolean;

/** How victims are chosen; by default as in kube-scheduler. */
interface VictimOptions {
  readonly mayTake?: MayTake | undefined;
  /** Another order of importance; it must put higher priorities first. */
  readonly order?: VictimOrder;
}

/**
 * The pods that must leave a node so that the incoming pod fits: removes all lower ones, then puts back each one for
 * which the incoming pod leaves room: those that violate a budget first, then the rest, the most important first.
 * `plugins/defaultpreemption/default_preemption.go` SelectVictimsOnNode.
 */
export function victimsOnNode(
  state: PrefilterState,
  entry: NodeEntry,
  options: VictimOptions = {},
): NodeCandidate | NoLowerPods | StillRefused {
  const lower = lowerPods(entry, state, options);
  if (lower.length === 0) return { kind: 'noLowerPods', node: entry.node.name };
  const trial = openTrial(state, entry);
  takeOff(trial, lower);
  const refusal = refusalIn(trial);
  if (refusal !== undefined) return { kind: 'stillRefused', node: entry.node.name, refusal, removed: lower.length };
  const { violators, others } = splitByBudgets(state.account, entry, lower);
  return candidate(entry, putBack(trial, violators), putBack(trial, others));
}

/** The pods below a priority, by index, in order of importance: they are at the end of the list. */
export function lowerPods(
  entry: NodeEntry,
  { priority, tails }: PrefilterState,
  { mayTake, order }: VictimOptions = {},
): readonly number[] {
  const sheet = sheetOf(entry);
  let first = sheet.podCount;
  while (first > 0 && priorityAt(sheet, first - 1) < priority) first -= 1;
  const lower = tailOf(tails, first, sheet.podCount);
  const takeable = mayTake === undefined ? lower : lower.filter((index) => mayTake(podAt(sheet, index).pod));
  return order === undefined ? takeable : takeable.toSorted((a, b) => order(podAt(sheet, a), podAt(sheet, b)));
}

/** The numbers from `first` up to `end`; cached, because the nodes of a cluster are much alike. */
function tailOf(tails: Map<number, readonly number[]>[], first: number, end: number): readonly number[] {
  const ending = (tails[end] ??= new Map());
  const known = ending.get(first);
  if (known !== undefined) return known;
  const tail = Array.from({ length: end - first }, (_, at) => first + at);
  ending.set(first, tail);
  return tail;
}

function candidate(entry: NodeEntry, violators: readonly number[], others: readonly number[]): NodeCandidate {
  const indexes = violators.length === 0 ? others : [...violators, ...others];
  const victims = podsAt(sheetOf(entry), indexes);
  // Among equals, those that violate a budget stay first: the scheduler sorts both lists as one, stably.
  if (violators.length > 0) victims.sort(compareRank);
  return candidateOf(entry.node.name, victims, violators.length);
}

function podsAt(sheet: NodeSheet, indexes: readonly number[]): PlacedPod[] {
  const found: PlacedPod[] = [];
  for (const index of indexes) found.push(podAt(sheet, index));
  return found;
}

function podAt({ pods }: NodeSheet, index: number): PlacedPod {
  return pods[index] as PlacedPod;
}

/** Rules for the choice among victims that kube-scheduler ranks equally. */
export interface VictimPreference {
  /** Among equal choices, prefers victims that use more than they request, and nodes on which a threshold is met. */
  readonly usageAware: boolean;
  /** Among victims of equal priority on a node: `qos` preempts BestEffort before Burstable before Guaranteed. */
  readonly tieBreak: 'none' | 'qos';
  /** When a pod of an owner, by UID, was last removed, if known; only for victims that we choose ourselves. */
  readonly ownerDisruptedAt?: ((owner: string) => Instant | undefined) | undefined;
}

/** Orders pods by importance: the one that sorts first stays. 0 leaves them in the order of kube-scheduler. */
export type VictimOrder = (a: PlacedPod, b: PlacedPod) => number;

/** The least important first. */
const QOS_CLASSES: readonly string[] = ['BestEffort', 'Burstable', 'Guaranteed'];

/**
 * The order among pods of one node if a rule requires one other than kube-scheduler's; `undefined` if none does. A
 * lower priority is always less important. Mechanism S0-8.
 */
export function victimOrder(
  { usageAware, tieBreak }: VictimPreference,
  overRequest: ReadonlySet<string>,
): VictimOrder | undefined {
  const byUsage = usageAware && overRequest.size > 0;
  const byQos = tieBreak === 'qos';
  if (!byUsage && !byQos) return undefined;
  return (a, b) =>
    b.priority - a.priority || (byUsage ? compareUsage(a, b, overRequest) : 0) || (byQos ? compareQos(a, b) : 0);
}

/**
 * The same order; among equal pods, those of the most recently disrupted owner stay, so that no controller is hit again
 * and again. Mechanism S3-8.
 */
export function fairOrder(
  order: VictimOrder | undefined,
  { ownerDisruptedAt }: Pick<VictimPreference, 'ownerDisruptedAt'>,
): VictimOrder | undefined {
  if (ownerDisruptedAt === undefined) return order;
  const lastAt = ({ pod }: PlacedPod): Instant => ownerDisruptedAt(controllerOf(pod)?.uid ?? '') ?? 0;
  return (a, b) => b.priority - a.priority || (order?.(a, b) ?? 0) || lastAt(b) - lastAt(a);
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

/** The code of a protection that an owner requested; all other protections come from the cluster. */
export const OPTED_OUT = 'ProtectedOptOut';

interface PreemptionProtection {
  /** Namespaces whose pods only a pod of system priority may preempt. */
  readonly protectedNamespaces: ReadonlySet<string>;
  /** Whether the pod's class, or the pod if its class allows it, opts out of preemption. */
  readonly optedOut: (pod: Pod) => boolean;
}

/**
 * Why `preemptor` must not preempt `victim`; `undefined` if it may. An administrator allows opt-outs, so they apply
 * regardless of priority, as in the webhook. A namespace does not protect against a pod of system priority: what the
 * cluster itself needs must find room.
 */
export function preemptionProtection(
  victim: Pod,
  preemptor: Pod,
  { protectedNamespaces, optedOut }: PreemptionProtection,
): Because | undefined {
  if (isMirrorOfNode(victim)) return because(victim, 'ProtectedMirrorPod', 'is the mirror of a static pod');
  if (optedOut(victim)) return because(victim, OPTED_OUT, 'opted out of preemption');
  if (!protectedNamespaces.has(victim.namespace) || hasCriticalPriority(preemptor)) return undefined;
  return because(victim, 'ProtectedNamespace', 'is in a protected namespace');
}

function because({ namespace, name }: Pod, code: string, text: string): Because {
  return { code, text: `pod ${namespace}/${name} ${text}`, facts: { namespace, pod: name } };
}

/**
 * The disruption budgets of a pod that allow no further disruption, so that preempting the pod violates them; `debitOf`
 * gives the disruptions by preemption that the budget's status does not include yet. As in `splitByBudgets`, a
 * disruption that the API server has already counted violates none. Mechanism S1-17.
 */
export function spentBudgets(
  { name }: Pick<Pod, 'name'>,
  budgets: readonly DisruptionBudget[],
  debitOf: (budget: DisruptionBudget) => number,
): readonly DisruptionBudget[] {
  return budgets.filter(
    (budget) => !budget.disruptedPods.has(name) && budget.disruptionsAllowed - debitOf(budget) <= 0,
  );
}
