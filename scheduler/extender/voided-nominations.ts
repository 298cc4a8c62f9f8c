import { type Instant, isBound, type Pod } from '#shared/domain/pod/pod.ts';
import { isRoomComing } from '#shared/domain/preemption/set-aside/set-aside-room.ts';
import { HANGING_AFTER_MS } from '#shared/domain/preemption/trial/leaving-pods.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { podKey } from '#shared/domain/snapshot/snapshot-pods.ts';
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

/** What an answer to kube-scheduler leaves to a preemptor. */
export interface Answered {
  /** Whether it leaves a node at all. */
  readonly isNodeLeft: boolean;
  /** By node: until when the pod is to wait there for room that comes by itself. */
  readonly waits: ReadonlyMap<string, Instant>;
}

/** Follows the nominations of pods whose preemption the extender allows on no node, or puts off. */
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

/** A pod whose nomination is void; times as `clock.monotonic`. */
interface Voided {
  readonly pod: Pod;
  /** By node: from when on a nomination there is void. */
  readonly voidFrom: ReadonlyMap<string, number>;
  /** It stays while enough room is coming, for a minute at most. */
  readonly mayAwait: boolean;
  readonly failures: number;
  readonly dueAt: number;
}

/** One whose nomination is to be cleared now. */
interface Due {
  readonly voided: Voided;
  readonly node: string;
}

const PERIOD_MS = 1_000;
const DEADLINE_MS = 60_000;
/** Of more, the latest are left to the next attempt of their pods. */
const MAX_FOLLOWED = 1_000;
/** In one pass. */
const MAX_CLEARED = 20;
const BACKOFF: Backoff = { initialMs: 1_000, maxMs: 60_000, factor: 2, jitter: 0 };
const PATCH = { type: 'merge', fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

/**
 * kube-scheduler 1.36 clears the nomination of a pod that no preemption helps, but not where an extender has removed the
 * last node: the nomination of an earlier attempt then keeps room from all pods of equal and lower priority
 * (docs/decisions/0041-voided-nominations.md). So it is cleared here, as kube-scheduler clears it. A nomination stays for
 * up to a minute while pods that leave its node free enough for the pod. A pod that was put off until terminating pods
 * are gone is nominated by the extender's doing: where one of them hangs, its nomination is cleared too, whereupon
 * kube-scheduler tries the pod again.
 */
export function createVoidedNominations(options: VoidedOptions): VoidedNominations {
  const { clock, metrics } = options;
  const followed = new Map<string, Voided>();
  const cleared = metrics.counter(
    'plimsoll_extender_voided_nominations_total',
    'Nominations to clear because the extender allows their pods no preemption or has put it off in vain, by the outcome of the write',
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
  const onError = (err: unknown): void => log.error({ err }, 'Voided nominations not cleared');
  return repeat({ task: voided.clear, periodMs: PERIOD_MS, deadlineMs: DEADLINE_MS, onError, clock }, signal);
}

/** `undefined` where no nomination of the pod is void. */
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

/** A repeated answer does not begin the minute anew. */
function isSame(known: Voided, { voidFrom, mayAwait }: Voided): boolean {
  return mayAwait && known.mayAwait && Array.from(voidFrom.keys()).every((node) => known.voidFrom.has(node));
}

/** Of a pod that was put off nothing is left to do once all of its waits are long over, and it is nominated elsewhere. */
function forgetPast(followed: Map<string, Voided>, now: number): void {
  for (const [uid, { voidFrom, mayAwait }] of followed)
    if (!mayAwait && now > Math.max(...voidFrom.values()) + HANGING_AFTER_MS) followed.delete(uid);
}

function dueNow(options: VoidedOptions, voided: Voided): Due | undefined {
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

/** A new nomination, by kube-scheduler or anyone else, stays: the write names the pod's resourceVersion. */
async function clearOne(
  options: VoidedOptions,
  { followed, cleared }: Following,
  due: Due,
  signal: AbortSignal,
): Promise<void> {
  const { voided } = due;
  const outcome = await write(options.client, due, signal);
  if (outcome !== undefined) cleared.add({ outcome: outcome.kind });
  const next = outcome === undefined || outcome.kind === 'notFound' ? undefined : after(outcome, due, options);
  // In the meantime kube-scheduler may have asked again.
  if (followed.get(voided.pod.uid) !== voided) return;
  if (next === undefined) followed.delete(voided.pod.uid);
  else followed.set(voided.pod.uid, next);
}

/** When to try again; `undefined` where it is done. A conflict shows another writer: the pod is read again at once. */
function after(outcome: Outcome<unknown>, { voided, node }: Due, { clock, log }: VoidedOptions): Voided | undefined {
  const facts = { pod: `${voided.pod.namespace}/${voided.pod.name}`, node };
  if (outcome.kind === 'conflict') return voided;
  if (outcome.kind === 'ok') {
    log.info(facts, 'Voided nomination cleared');
    return undefined;
  }
  log.warn({ ...facts, kind: outcome.kind, message: outcome.message }, 'Voided nomination not cleared');
  const dueAt = clock.monotonic() + backoffDelay(BACKOFF, voided.failures, 0);
  return { ...voided, failures: voided.failures + 1, dueAt };
}

/** `undefined` where there is nothing to clear any more. */
async function write(
  client: KubeClient,
  { voided: { pod }, node }: Due,
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
