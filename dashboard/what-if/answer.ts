import { isFresh, type SignalEntry } from '#shared/api/node-pressure.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { withDefaultRequests } from '#shared/domain/pod/pod-requests.ts';
import { resolvePriority } from '#shared/domain/priority/classes-and-policies.ts';
import { readableAmount } from '#shared/domain/quantity/format-quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import type { Quantity } from '#shared/domain/quantity/quantity.ts';
import { quote } from '#shared/domain/base/texts.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { simulatePlacement } from '#shared/decide/simulation/placement.ts';
import { answerPressure } from '#shared/decide/simulation/pressure-model.ts';
import { type PressureView, pressureView } from '#shared/decide/simulation/pressure-view.ts';
import { type PreemptView, preemptView } from '#shared/decide/simulation/preempt-view.ts';
import { type MaySee, namespaceOf, redactText } from '#dashboard/views/redact.ts';
import type { PodAsked, PressureAsked } from './question.ts';
import type { SimulatedNode } from './read-node.ts';

/** What the agent of a node would do, as plain JSON for the page. */
export interface PressureAnswerView {
  readonly kind: 'pressure';
  readonly message: string;
  readonly why: string;
  readonly policy: string;
  readonly mode: string;
  readonly stage: PressureView['stage'];
  /** `namespace/pod`; empty if the viewer may not list the pods of its namespace. */
  readonly victims: readonly string[];
  readonly order: readonly RankedPodView[];
  readonly kept: readonly KeptPodView[];
  readonly thresholds: readonly ThresholdView[];
  readonly notes: readonly string[];
}

export interface RankedPodView extends KeptPodView {
  readonly position: number;
  readonly usage: string;
  readonly request: string;
}

interface KeptPodView {
  readonly pod: string;
  readonly priority: number | undefined;
  readonly why: string;
}

export interface ThresholdView {
  readonly kind: 'hard' | 'soft';
  readonly least: string;
  readonly gracePeriodSeconds: number;
  readonly mode: string;
  readonly met: boolean | 'unknown';
}

/** What kube-scheduler would do with one more pod for a node. */
export interface PodAnswerView {
  readonly kind: 'pod';
  readonly message: string;
  readonly why: string;
  readonly outcome: PreemptView['outcome'];
  readonly priority: number;
  readonly className: string;
  readonly victims: readonly PreemptedView[];
  /** Why the pod does not go to the node, and which pods or rules prevent it. */
  readonly reasons: readonly string[];
  readonly notes: readonly string[];
}

export interface PreemptedView {
  readonly pod: string;
  readonly priority: number | undefined;
  readonly className: string;
}

/**
 * Decides like the agent of the node; an invalid field is rejected by name. The result builds the answer in a second
 * step, so that other callers get a turn in between.
 */
export function answerToPressure(
  asked: PressureAsked,
  node: SimulatedNode,
  now: Instant,
): Decoded<() => PressureAnswerView> {
  const [found] = node.nodes;
  const available = asked.available ?? reportedAmount(asked, node, now);
  if (found === undefined || available === undefined)
    return { ok: false, field: 'available', message: notReported(asked) };
  const question = { ...asked, node: found, nodeMemory: node.memory, available, named: new Map(), now };
  const decided = answerPressure(node, question);
  return { ok: true, value: () => pressureAnswer(pressureView(question, decided)) };
}

function notReported({ node, signal }: PressureAsked): string {
  return `the agent of node ${quote(node)} has not reported ${signal} for minutes; expected an amount`;
}

/** The figure that thresholds are compared with, according to the agent's last report. */
function reportedAmount({ signal }: PressureAsked, { pressures }: SimulatedNode, now: Instant): Quantity | undefined {
  const status = pressures[0]?.status;
  if (!isFresh(status, now)) return undefined;
  const entry = status.signals.find(({ name }) => name === signal);
  const parsed = parseQuantity(entry === undefined ? '' : comparedAmount(entry));
  return parsed.ok ? parsed.quantity : undefined;
}

function comparedAmount({ figure, reclaimable, available }: SignalEntry): string {
  return (figure === 'Reclaimable' ? reclaimable : available) ?? available ?? '';
}

function pressureAnswer(view: PressureView): PressureAnswerView {
  const { message, because, policy, mode, stage, victims } = view;
  return {
    kind: 'pressure',
    message,
    why: because.text,
    policy,
    mode,
    stage,
    victims,
    order: view.order.map(({ position, pod, priority, usage, request, because: { text } }) => {
      return {
        position,
        pod,
        priority,
        usage: readableAmount(usage ?? ''),
        request: readableAmount(request),
        why: text,
      };
    }),
    kept: view.notEvicted.map(({ pod, priority, because: { text } }) => ({ pod, priority, why: text })),
    thresholds: view.thresholds.map(({ kind, shown = '', gracePeriodSeconds, mode: own, met }) => {
      return { kind, least: shown, gracePeriodSeconds, mode: own, met };
    }),
    notes: [...view.explanations, ...view.notes],
  };
}

const NAMESPACE = 'default';
const NAME = 'what-if';

/** Decides like kube-scheduler with the extender, in a cluster of only this node; the result builds the answer. */
export function answerToPod(asked: PodAsked, node: SimulatedNode, now: Instant): Decoded<() => PodAnswerView> {
  const pod = podOf(asked, node);
  if (!pod.ok) return pod;
  const setup = { extender: true, budgets: 'BestEffort', now, nominatedSince: () => undefined } as const;
  const placement = simulatePlacement(node, pod.value, setup);
  return { ok: true, value: () => podAnswer(preemptView(placement)) };
}

/** The pod as the API server would store it. */
function podOf({ requests, priorityClass }: PodAsked, { classes }: SimulatedNode): Decoded<Pod> {
  const className = priorityClass === '' ? {} : { priorityClassName: priorityClass };
  const decoded = decodePod({
    metadata: { name: NAME, namespace: NAMESPACE, uid: NAME },
    spec: { ...className, containers: [{ name: NAME, resources: { requests } }] },
  });
  if (!decoded.ok) return decoded;
  const pod = withDefaultRequests(decoded.value);
  const resolved = resolvePriority(pod, classes);
  if (resolved.kind !== 'resolved')
    return { ok: false, field: 'priorityClass', message: `no PriorityClass ${quote(priorityClass)}` };
  const { priorityClassName, priority, preemptionPolicy } = resolved;
  return { ok: true, value: { ...pod, spec: { ...pod.spec, priorityClassName, priority, preemptionPolicy } } };
}

function podAnswer(view: PreemptView): PodAnswerView {
  const { message, because, outcome, priority, priorityClassName, victims, otherNodes, explanations, notes } = view;
  return {
    kind: 'pod',
    message,
    why: because.text,
    outcome,
    priority,
    className: priorityClassName,
    victims: victims.map(({ pod, priority: own, priorityClassName: name }) => ({
      pod,
      priority: own,
      className: name,
    })),
    reasons: [...otherNodes.map(({ reason }) => reason), ...explanations.map(({ text }) => text)],
    notes,
  };
}

/** An answer without names, figures and reasons of pods that the viewer may not see; it keeps their number. */
export function redactPressure(answer: PressureAnswerView, maySee: MaySee): PressureAnswerView {
  const kept = (each: KeptPodView): KeptPodView => redactPod(each, maySee);
  return {
    ...answer,
    message: redactText(answer.message, maySee),
    victims: answer.victims.map((pod) => (maySee(namespaceOf(pod)) ? pod : '')),
    order: answer.order.map((each) =>
      maySee(namespaceOf(each.pod)) ? { ...each, ...kept(each) } : { ...each, ...kept(each), usage: '', request: '' },
    ),
    kept: answer.kept.map(kept),
    notes: answer.notes.map((note) => redactText(note, maySee)),
  };
}

function redactPod({ pod, priority, why }: KeptPodView, maySee: MaySee): KeptPodView {
  if (maySee(namespaceOf(pod))) return { pod, priority, why: redactText(why, maySee) };
  return { pod: '', priority: undefined, why: '' };
}

/** The same for one more pod; the viewer named the pod itself. */
export function redactPodAnswer(answer: PodAnswerView, maySee: MaySee): PodAnswerView {
  const text = (each: string): string => redactText(each, maySee);
  return {
    ...answer,
    why: text(answer.why),
    victims: answer.victims.map((each) =>
      maySee(namespaceOf(each.pod)) ? each : { pod: '', priority: undefined, className: '' },
    ),
    reasons: answer.reasons.map(text),
    notes: answer.notes.map(text),
  };
}
