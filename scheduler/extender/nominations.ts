import { type Instant, isBound, type Pod } from '#shared/domain/pod/pod.ts';
import { isRoomComing, type IdleFor } from '#shared/domain/placement/set-aside/set-aside-room.ts';
import { HANGING_AFTER_MS } from '#shared/domain/placement/trial/leaving-pods.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { podKey, nodeOrNominated } from '#shared/domain/snapshot/snapshot-pods.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { getObject, patchObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { PODS } from '#shared/kube/resource.ts';
import { type Backoff, backoffDelay, repeat } from '#shared/runtime/repeat.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { CounterMetric, Metrics } from '#shared/runtime/metrics.ts';
import { putBounded } from '#shared/domain/base/memoize.ts';
import type { WaitedFor } from '#shared/domain/preemption/proposal/proposal.ts';
import type { ObservePod } from '#scheduler/preemptions/preemption-loops.ts';
import { faultLog, reportRounds } from '#shared/runtime/fault-log.ts';

/** What an answer to kube-scheduler means for the preemptor. */
interface Answered {
  /** Whether the answer keeps any node. */
  readonly isNodeLeft: boolean;
  /** By node: how long the pod is to wait there for terminating pods to free room. */
  readonly waits: ReadonlyMap<string, Instant>;
}

/** Clears nominations of pods whose preemption the extender rejects on all nodes or postpones. */
export interface VoidedNominations {
  readonly note: (preemptor: Pod, answered: Answered) => void;
  /** Clears the nominations that are due, once. */
  readonly clear: (signal: AbortSignal) => Promise<void>;
}

export interface VoidedOptions {
  readonly client: KubeClient;
  readonly snapshot: ClusterSnapshot;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A pod whose nomination is void. Times are by `clock.monotonic`. */
interface Voided {
  readonly pod: Pod;
  /** By node: when a nomination there becomes void. */
  readonly voidFrom: ReadonlyMap<string, number>;
  /** The nomination stays while terminating pods free enough room, for a minute at most. */
  readonly mayAwait: boolean;
  readonly failures: number;
  readonly dueAt: number;
}

/** A nomination to clear now. */
interface DueNomination {
  readonly voided: Voided;
  readonly node: string;
}

const PERIOD_MS = 1_000;
const DEADLINE_MS = 60_000;
/** Beyond this number, a pod is followed after its next attempt. */
const MAX_FOLLOWED = 1_000;
/** Maximum writes in one pass. */
const MAX_CLEARED = 20;
const BACKOFF: Backoff = { initialMs: 1_000, maxMs: 60_000, factor: 2, jitter: 0 };
const PATCH = { type: 'merge', fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

/**
 * kube-scheduler 1.36 clears the nomination of a pod that no preemption helps, but not if an extender has removed the
 * last node. The nomination of an earlier attempt then reserves room from all pods of equal and lower priority
 * (docs/contributing/decisions/set-aside-room.md). So the extender clears it, as kube-scheduler would. A nomination stays
 * for up to a minute while terminating pods free enough room on its node. The extender also causes nominations: it
 * postpones a pod until terminating pods are gone. If one of them hangs, the extender clears that nomination too, and
 * kube-scheduler tries the pod again.
 */
export function createVoidedNominations(options: VoidedOptions): VoidedNominations {
  const { clock, metrics } = options;
  const followed = new Map<string, Voided>();
  const cleared = metrics.counter(
    'plimsoll_extender_voided_nominations_total',
    'Nominations to clear because the extender rejects or has postponed the preemption in vain, by outcome of the write',
    ['outcome'],
  );
  return {
    note: (preemptor, answered) => {
      const voided = voidedBy(clock, preemptor, answered);
      const known = followed.get(preemptor.uid);
      if (voided === undefined) followed.delete(preemptor.uid);
      else if (known === undefined ? followed.size < MAX_FOLLOWED : !isSame(known, voided))
        followed.set(preemptor.uid, voided);
    },
    clear: async (signal) => {
      forgetPast(followed, clock.monotonic());
      const due = [...followed.values()].flatMap((each) => dueNow(options, each) ?? []);
      for (const each of due.slice(0, MAX_CLEARED)) {
        if (signal.aborted) return;
        await clearOne(options, { followed, cleared }, each, signal);
      }
    },
  };
}

/** Clears voided nominations once a second until `signal` aborts. Never rejects. */
export function clearVoidedNominations(
  voided: Pick<VoidedNominations, 'clear'>,
  { clock, log }: Pick<VoidedOptions, 'clock' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  const rounds = reportRounds(log, 'Voided nominations not cleared');
  return repeat({ task: voided.clear, periodMs: PERIOD_MS, deadlineMs: DEADLINE_MS, ...rounds, clock }, signal);
}

/** `undefined` if no nomination of the pod is void. */
function voidedBy(clock: Clock, pod: Pod, { isNodeLeft, waits }: Answered): Voided | undefined {
  const { nominatedNodeName: node = '' } = pod.status;
  const now = clock.monotonic();
  const shared = { pod, failures: 0, dueAt: now };
  if (pod.uid === '') return undefined;
  if (!isNodeLeft) return node === '' ? undefined : { ...shared, voidFrom: new Map([[node, now]]), mayAwait: true };
  if (waits.size === 0) return undefined;
  const ahead = now - clock.now();
  return { ...shared, voidFrom: new Map(Array.from(waits, ([each, until]) => [each, until + ahead])), mayAwait: false };
}

/** A repeated answer does not restart the minute. */
function isSame(known: Voided, { voidFrom, mayAwait }: Voided): boolean {
  return mayAwait && known.mayAwait && Array.from(voidFrom.keys()).every((node) => known.voidFrom.has(node));
}

/** Drops postponed pods whose waits are all long over: nothing is left to clear. */
function forgetPast(followed: Map<string, Voided>, now: number): void {
  for (const [uid, { voidFrom, mayAwait }] of followed)
    if (!mayAwait && now > Math.max(...voidFrom.values()) + HANGING_AFTER_MS) followed.delete(uid);
}

function dueNow(options: VoidedOptions, voided: Voided): DueNomination | undefined {
  const now = options.clock.monotonic();
  const node = voided.mayAwait ? Array.from(voided.voidFrom.keys())[0] : nominatedNode(options, voided);
  const from = voided.voidFrom.get(node ?? '');
  if (node === undefined || from === undefined || voided.dueAt > now || from > now) return undefined;
  return voided.mayAwait && isAwaited(options, node, voided) ? undefined : { voided, node };
}

function nominatedNode({ snapshot }: VoidedOptions, { pod }: Voided): string | undefined {
  const known = snapshot.placedPods.get(podKey(pod))?.pod;
  return (known?.spec.nodeName ?? '') === '' ? known?.status.nominatedNodeName : undefined;
}

function isAwaited({ snapshot, clock }: VoidedOptions, node: string, { pod, voidFrom }: Voided): boolean {
  const entry = snapshot.nodes.get(node);
  if (entry === undefined || clock.monotonic() - (voidFrom.get(node) ?? 0) > HANGING_AFTER_MS) return false;
  return isRoomComing(pod, { snapshot, entry, now: clock.now() });
}

interface Following {
  readonly followed: Map<string, Voided>;
  readonly cleared: CounterMetric;
}

/** A new nomination, by kube-scheduler or another writer, stays: the write names the pod's resourceVersion. */
async function clearOne(
  options: VoidedOptions,
  { followed, cleared }: Following,
  due: DueNomination,
  signal: AbortSignal,
): Promise<void> {
  const { voided } = due;
  const outcome = await write(options.client, due, signal);
  if (outcome !== undefined) cleared.add({ outcome: outcome.kind });
  const next = outcome === undefined || outcome.kind === 'notFound' ? undefined : after(outcome, due, options);
  // kube-scheduler may have asked again in the meantime.
  if (followed.get(voided.pod.uid) !== voided) return;
  if (next === undefined) followed.delete(voided.pod.uid);
  else followed.set(voided.pod.uid, next);
}

/** When to try again; `undefined` when done. A conflict shows another writer: read the pod again at once. */
function after(
  outcome: Outcome<unknown>,
  { voided, node }: DueNomination,
  { clock, log }: VoidedOptions,
): Voided | undefined {
  const facts = { pod: `${voided.pod.namespace}/${voided.pod.name}`, node };
  if (outcome.kind === 'conflict') return voided;
  faultLog(log, 'Voided nomination not cleared').answered(facts.pod, outcome);
  if (outcome.kind === 'ok') {
    log.info(facts, 'Voided nomination cleared');
    return undefined;
  }
  const dueAt = clock.monotonic() + backoffDelay(BACKOFF, voided.failures, 0);
  return { ...voided, failures: voided.failures + 1, dueAt };
}

/** `undefined` if there is nothing left to clear. */
async function write(
  client: KubeClient,
  { voided: { pod }, node }: DueNomination,
  signal: AbortSignal,
): Promise<Outcome<unknown> | undefined> {
  const { namespace, name, uid } = pod;
  const address = { resource: PODS, namespace, name };
  const found = await getObject(client, address, { signal, timeoutMs: PATCH.timeoutMs });
  if (found.kind !== 'ok') return found;
  const decoded = decodePod(found.object);
  if (!decoded.ok) return { kind: 'invalid', message: `cannot read ${decoded.field}: ${decoded.message}` };
  const { resourceVersion, status } = decoded.value;
  if (decoded.value.uid !== uid || status.nominatedNodeName !== node || isBound(decoded.value)) return undefined;
  const patch = { metadata: { uid, resourceVersion }, status: { nominatedNodeName: null } };
  return patchObject(client, { ...address, subresource: 'status' }, patch, { ...PATCH, signal });
}

/** Beyond this number, the oldest are forgotten. */
const MAX_REMEMBERED = 10_000;

/** Remembers how long a condition has held for a pod and a node: 0 the first time, then milliseconds. */
export function createSinceWhen(): WaitedFor {
  const since = new Map<string, Instant>();
  return (pod, node, now) => {
    const key = `${podKey(pod)} ${node}`;
    const first = since.get(key);
    if (first !== undefined) return Math.max(0, now - first);
    putBounded(since, MAX_REMEMBERED, [key, now]);
    return 0;
  };
}

/** Since when pods have been nominated to their nodes, as this process has seen it. */
interface Nominations {
  /** Records a nomination. */
  readonly observe: ObservePod;
  /** A nomination that was not observed counts from the first question about it. */
  readonly idleFor: IdleFor;
}

/**
 * Remembers when each pod was first nominated to a node. Other changes of the pod, which its owner can make at any
 * time, do not reset the time; nor does a nomination elsewhere and back.
 */
export function createNominations({ now }: { readonly now: () => Instant }): Nominations {
  const nominatedFor = createSinceWhen();
  const isNominated = (pod: Pod): boolean => !isBound(pod) && nodeOrNominated(pod) !== '';
  return {
    observe: ({ pod }) => {
      if (isNominated(pod)) nominatedFor(pod, nodeOrNominated(pod), now());
    },
    idleFor: ({ pod }, at) => nominatedFor(pod, nodeOrNominated(pod), at),
  };
}
