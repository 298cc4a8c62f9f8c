import type { Steps } from '#shared/domain/base/steps.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type {
  NodeVerdict,
  Proposal,
  ProposalRules,
  ProposedVictims,
  WaitedFor,
} from '#shared/domain/preemption/proposal/proposal.ts';
import { leaveSetAside, reviewByProtection } from '#shared/domain/preemption/proposal/as-proposed.ts';
import type { IdleFor, IncomingPod } from '#shared/domain/placement/set-aside/set-aside-room.ts';
import { reviewInSteps } from '#shared/domain/preemption/proposal/review-proposal.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { type ExtenderRequest, unreadable, type Verb, type DecideOr, type Undecided } from './extender-listener.ts';
import type { QueueKeeper } from './preemption-rules.ts';
import type { VoidedNominations } from './nominations.ts';
import { OPTED_OUT } from '#shared/domain/placement/victims/victims-on-node.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import { type EventRecorder, podReference } from '#shared/kube/events/event-recorder.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import {
  type Decoded,
  copyOf,
  decodeObject,
  readCount,
  readList,
  readObject,
  readText,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { parseFields, PREEMPTING_POD, readRequestBody } from './request-body.ts';

export interface PreemptOptions {
  readonly snapshot: ClusterSnapshot;
  readonly decideOr: DecideOr;
  readonly rules: ProposalRules;
  readonly idleFor: IdleFor;
  readonly waitedFor: WaitedFor;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Inspects each reviewed proposal. */
  readonly reportLoops: (proposed: PreemptionArgs) => Steps<void>;
  readonly voided: Pick<VoidedNominations, 'note'>;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Absent if queues do not restrict preemptions. */
  readonly keeper?: Pick<QueueKeeper, 'note' | 'whyNotPlaced'> | undefined;
}

/** Log lines per step; each is written at once. */
const LINES_PER_STEP = 50;
/** Named in an Event. */
const MAX_NODES = 3;

/** The verb `preempt`: takes `ExtenderPreemptionArgs`, answers with the remaining nodes and victims. */
export function preemptVerb(options: PreemptOptions): Verb {
  const { metrics, voided, keeper, events } = options;
  const nodes = metrics.counter(
    'plimsoll_extender_nodes_total',
    'Nodes that kube-scheduler proposed for a preemption, by verdict',
    ['verdict'],
  );
  for (const verdict of ['kept', 'changed', 'removed'] satisfies NodeVerdict['kind'][]) nodes.add({ verdict }, 0);
  return function* (asked) {
    const args = yield* readPreemptionArgs(asked.body);
    if (!args.ok) return unreadable(args);
    yield;
    const reviewed = yield* review(options, asked, args.value);
    yield;
    for (const [verdict, count] of countKinds(reviewed)) nodes.add({ verdict }, count);
    const left = reviewed.flatMap(victimsLeft);
    voided.note(args.value.pod, { isNodeLeft: left.length > 0, waits: new Map(reviewed.flatMap(waitOn)) });
    if (left.length === 0) tellOptOuts(events, args.value.pod, reviewed);
    if (keeper !== undefined) yield* keeper.note(args.value.pod, left);
    return { ok: true, json: encodePreemptionResult(left, args.value) };
  };
}

function* review(options: PreemptOptions, asked: ExtenderRequest, args: PreemptionArgs): Steps<readonly NodeVerdict[]> {
  const { snapshot, rules, idleFor, waitedFor, clock, log, reportLoops, decideOr } = options;
  const proposal = { ...args, isOfUnknownSize: args.isPodCutShort, now: clock.now(), idleFor, waitedFor };
  const request = { ...asked, isUnreadPod: args.isPodCutShort };
  const outcome = yield* decideOr('preempt', request, reviewInSteps(snapshot, proposal, rules));
  if ('undecided' in outcome && outcome.undecided === 'Unsynced') return asProposed(args);
  const reviewed =
    'decided' in outcome ? outcome.decided : yield* reviewUndecided(options, proposal, outcome.undecided);
  yield* report(log, args, reviewed);
  yield* reportLoops(args);
  return reviewed;
}

/**
 * If nothing can be decided, protection alone decides, so that no load exposes a protected pod to preemption. Set-aside
 * room is respected too unless the view is stale: otherwise `filter` would keep the pod off the node after its victims
 * are gone.
 */
function* reviewUndecided(
  { snapshot, rules }: PreemptOptions,
  proposal: Proposal & IncomingPod,
  undecided: Undecided,
): Steps<readonly NodeVerdict[]> {
  const reviewed = yield* reviewByProtection(snapshot, proposal, rules);
  return undecided === 'Stale' ? reviewed : yield* leaveSetAside(snapshot, proposal, reviewed);
}

function asProposed({ proposal }: PreemptionArgs): readonly NodeVerdict[] {
  return proposal.map((victims) => ({ kind: 'kept', victims }));
}

function countKinds(reviewed: readonly NodeVerdict[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { kind } of reviewed) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

function victimsLeft(verdict: NodeVerdict): readonly ProposedVictims[] {
  return verdict.kind === 'removed' ? [] : [verdict.victims];
}

function waitOn(verdict: NodeVerdict): readonly (readonly [string, Instant])[] {
  const isWait = verdict.kind === 'changed' && verdict.waitsUntil !== undefined;
  return isWait ? [[verdict.victims.node, verdict.waitsUntil]] : [];
}

function* report(log: Log, { pod }: PreemptionArgs, reviewed: readonly NodeVerdict[]): Steps<void> {
  for (const [at, verdict] of reviewed.entries()) {
    if (at % LINES_PER_STEP === LINES_PER_STEP - 1) yield;
    if (verdict.kind === 'kept') continue;
    const node = verdict.kind === 'changed' ? verdict.victims.node : verdict.node;
    const { code, text } = verdict.because;
    log.info({ pod: `${pod.namespace}/${pod.name}`, node, verdict: verdict.kind, code, text }, 'Preemption reviewed');
  }
}

/** kube-scheduler tries again and again, and does not say why it preempts no pod. Pods of others are not named. */
function tellOptOuts(events: PreemptOptions['events'], pod: Pod, reviewed: readonly NodeVerdict[]): void {
  const nodes = reviewed.flatMap((each) =>
    each.kind === 'removed' && each.because.code === OPTED_OUT ? [each.node] : [],
  );
  if (nodes.length === 0) return;
  const more = nodes.length > MAX_NODES ? ` and ${nodes.length - MAX_NODES} more` : '';
  const note = `kube-scheduler would preempt pods that opted out of preemption, on each node that it proposes: ${nodes.slice(0, MAX_NODES).join(', ')}${more}`;
  const what = { type: 'Warning', reason: EVENT_REASONS.preemptionRefused, note, action: 'Preempting' } as const;
  events.record({ regarding: podReference(pod), ...what });
}

/** What kube-scheduler asks about a preemption. */
interface PreemptionArgs {
  /** The pod to make room for. */
  readonly pod: Pod;
  /** The pod is so large that some parts were not read which a decision needs. */
  readonly isPodCutShort: boolean;
  readonly proposal: readonly ProposedVictims[];
  /** The original text of each node's victims; empty if the answer is encoded from scratch. */
  readonly texts: ReadonlyMap<ProposedVictims, string>;
}

const BEFORE_NODES = ',"NodeNameToVictims":null,"NodeNameToMetaVictims":{';
const VICTIM = String.raw`\{"UID":"[^"\\]*"\}`;
const NODE = new RegExp(
  String.raw`"([^"\\]*)":\{"Pods":\[(${VICTIM}(?:,${VICTIM})*)\],"NumPDBViolations":(\d{1,9})\}`,
  'y',
);
const VICTIM_START = '{"UID":"';
const VICTIM_END = '"}';
const NODES_PER_STEP = 16;

/**
 * Reads `ExtenderPreemptionArgs` in steps: victims by UID if the extender keeps its own copy of the pods
 * (`nodeCacheCapable`), otherwise whole pods. Most of the body is UIDs, and `JSON.parse` would make an object of each.
 * Text in the form that kube-scheduler writes is cut out instead. `k8s.io/kube-scheduler/extender/v1` types.go.
 */
export function* readPreemptionArgs(bytes: Buffer): Steps<Decoded<PreemptionArgs>> {
  const body = yield* readRequestBody(bytes, PREEMPTING_POD);
  if (!body.ok) return body;
  yield;
  const { pod, isPodCutShort, others } = body.value;
  const texts = others.startsWith(BEFORE_NODES) ? yield* cutOut(others, BEFORE_NODES.length) : undefined;
  yield;
  if (texts !== undefined) return withPod({ proposal: Array.from(texts.keys()), texts, isPodCutShort }, pod);
  const raw = parseFields(body.value);
  yield;
  return raw.ok ? decodePreemptionArgs(raw.value, isPodCutShort) : raw;
}

/** The nodes from an index on; `undefined` if the rest of the text has another form. */
function* cutOut(text: string, from: number): Steps<PreemptionArgs['texts'] | undefined> {
  const texts = new Map<ProposedVictims, string>();
  for (let at = from; ; at += 1) {
    const node = nodeAt(text, at);
    if (node === undefined) return undefined;
    texts.set(node.victims, node.text);
    at += node.text.length;
    if (text[at] !== ',') return text.slice(at) === '}}' ? texts : undefined;
    if (texts.size % NODES_PER_STEP === 0) yield;
  }
}

function nodeAt(text: string, at: number): { readonly text: string; readonly victims: ProposedVictims } | undefined {
  NODE.lastIndex = at;
  const found = NODE.exec(text);
  if (found === null) return undefined;
  const [all, node = '', victims = '', violations] = found;
  // The name may outlive the request.
  return { text: all, victims: { node: copyOf(node), uids: uidsIn(victims), budgetViolations: Number(violations) } };
}

function uidsIn(victims: string): readonly string[] {
  return victims.slice(VICTIM_START.length, -VICTIM_END.length).split(`${VICTIM_END},${VICTIM_START}`);
}

/** Reads parsed `ExtenderPreemptionArgs`. */
export function decodePreemptionArgs(raw: unknown, isPodCutShort = false): Decoded<PreemptionArgs> {
  const proposed = decodeObject(raw, readProposal);
  if (!proposed.ok) return proposed;
  return withPod({ proposal: proposed.value, texts: new Map(), isPodCutShort }, (raw as WireObject)['Pod']);
}

function withPod(args: Omit<PreemptionArgs, 'pod'>, raw: unknown): Decoded<PreemptionArgs> {
  const pod = decodePod(raw);
  if (pod.ok) return { ok: true, value: { ...args, pod: pod.value } };
  return { ...pod, field: pod.field === '' ? 'Pod' : `Pod.${pod.field}` };
}

/**
 * The text of `ExtenderPreemptionResult`: the remaining nodes with their victims. Unchanged victims are not encoded
 * again: they are most of the answer.
 */
export function encodePreemptionResult(
  left: readonly ProposedVictims[],
  { texts }: Pick<PreemptionArgs, 'texts'>,
): string {
  const nodes = left.map((victims) => texts.get(victims) ?? encodeVictims(victims));
  return `{"NodeNameToMetaVictims":{${nodes.join(',')}}}`;
}

function encodeVictims({ node, uids, budgetViolations }: ProposedVictims): string {
  const victims = { Pods: uids.map((UID) => ({ UID })), NumPDBViolations: budgetViolations };
  return `${JSON.stringify(node)}:${JSON.stringify(victims)}`;
}

function readProposal(args: WireObject): PreemptionArgs['proposal'] {
  const byUid = readNodes(args, 'NodeNameToMetaVictims', (pod) => readText(pod, 'UID') ?? '');
  return byUid ?? readNodes(args, 'NodeNameToVictims', readUid) ?? [];
}

function readUid(pod: WireObject): string {
  return readObject(pod, 'metadata', (metadata) => readText(metadata, 'uid')) ?? '';
}

function readNodes(
  args: WireObject,
  key: string,
  uidOf: (pod: WireObject) => string,
): readonly ProposedVictims[] | undefined {
  return readObject(args, key, (nodes) =>
    Object.keys(nodes).map(
      (node) => readObject(nodes, node, (victims) => victimsOf(node, victims, uidOf)) ?? victimsOf(node, {}, uidOf),
    ),
  );
}

function victimsOf(node: string, victims: WireObject, uidOf: (pod: WireObject) => string): ProposedVictims {
  return {
    node,
    uids: readList(victims, 'Pods', uidOf),
    budgetViolations: readCount(victims, 'NumPDBViolations') ?? 0,
  };
}
