import type { Pod } from '#shared/domain/pod/pod.ts';
import { isRoomComing } from '#shared/domain/preemption/set-aside/awaited-nominations.ts';
import { HANGING_AFTER_MS } from '#shared/domain/preemption/trial/leaving-pods.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { getObject, patchObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { PODS } from '#shared/kube/resource.ts';
import { type Backoff, backoffDelay } from '#shared/runtime/backoff.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { CounterMetric, Metrics } from '#shared/runtime/metrics.ts';
import { repeat } from '#shared/runtime/repeat.ts';

/** Follows the nominations of pods whose preemption the extender allows on no node. */
export interface VoidedNominations {
  /** Takes note of an answer: whether it leaves a node on which the pod may preempt. */
  readonly note: (preemptor: Pod, isNodeLeft: boolean) => void;
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

interface Voided {
  readonly pod: Pod;
  readonly node: string;
  readonly since: number;
  readonly failures: number;
  readonly dueAt: number;
}

const PERIOD_MS = 1_000;
const DEADLINE_MS = 60_000;
/** Of more, the latest are left to the next attempt of their pods. */
const MOST_FOLLOWED = 1_000;
/** In one pass. */
const MOST_CLEARED = 20;
const BACKOFF: Backoff = { initialMs: 1_000, maxMs: 60_000, factor: 2, jitter: 0 };
const PATCH = { type: 'merge', fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

/**
 * kube-scheduler 1.36 clears the nomination of a pod that no preemption helps, but not where an extender has removed the
 * last node: the nomination of an earlier attempt then keeps room from all pods of equal and lower priority
 * (docs/decisions/0041-voided-nominations.md). So it is cleared here, as kube-scheduler clears it. A nomination stays for
 * up to a minute while pods that leave its node free enough for the pod.
 */
export function createVoidedNominations(options: VoidedOptions): VoidedNominations {
  const { clock, metrics } = options;
  const followed = new Map<string, Voided>();
  const cleared = metrics.counter(
    'plimsoll_extender_voided_nominations_total',
    'Nominations to clear because the extender allows their pods no preemption, by the outcome of the write',
    ['outcome'],
  );
  return {
    note: (preemptor, isNodeLeft) => {
      note(followed, preemptor, isNodeLeft ? undefined : clock.monotonic());
    },
    clear: async (signal) => {
      const now = clock.monotonic();
      const due = [...followed.values()].filter((each) => each.dueAt <= now && !isAwaited(options, each));
      for (const each of due.slice(0, MOST_CLEARED)) {
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

function note(followed: Map<string, Voided>, pod: Pod, voidedAt: number | undefined): void {
  const { nominatedNodeName: node = '' } = pod.status;
  const known = followed.get(pod.uid);
  if (voidedAt === undefined || node === '' || pod.uid === '') {
    followed.delete(pod.uid);
    return;
  }
  if (known?.node === node || (known === undefined && followed.size >= MOST_FOLLOWED)) return;
  followed.set(pod.uid, { pod, node, since: voidedAt, failures: 0, dueAt: voidedAt });
}

function isAwaited({ snapshot, clock }: VoidedOptions, { pod, node, since }: Voided): boolean {
  const entry = snapshot.nodes.get(node);
  if (entry === undefined || clock.monotonic() - since > HANGING_AFTER_MS) return false;
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
  voided: Voided,
  signal: AbortSignal,
): Promise<void> {
  const outcome = await write(options.client, voided, signal);
  if (outcome !== undefined) cleared.add({ outcome: outcome.kind });
  const next = outcome === undefined || outcome.kind === 'notFound' ? undefined : after(outcome, voided, options);
  // In the meantime kube-scheduler may have asked again.
  if (followed.get(voided.pod.uid) !== voided) return;
  if (next === undefined) followed.delete(voided.pod.uid);
  else followed.set(voided.pod.uid, next);
}

/** When to try again; `undefined` where it is done. A conflict shows another writer: the pod is read again at once. */
function after(outcome: Outcome<unknown>, voided: Voided, { clock, log }: VoidedOptions): Voided | undefined {
  const facts = { pod: `${voided.pod.namespace}/${voided.pod.name}`, node: voided.node };
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
  { pod, node }: Voided,
  signal: AbortSignal,
): Promise<Outcome<unknown> | undefined> {
  const { namespace, name, uid } = pod;
  const address = { resource: PODS, namespace, name };
  const found = await getObject(client, address, { signal, timeoutMs: PATCH.timeoutMs });
  if (found.kind !== 'ok') return found;
  const decoded = decodePod(found.object);
  if (!decoded.ok) return { kind: 'invalid', message: `cannot read ${decoded.field}: ${decoded.message}` };
  const { resourceVersion, spec, status } = decoded.value;
  if (decoded.value.uid !== uid || status.nominatedNodeName !== node || (spec.nodeName ?? '') !== '') return undefined;
  const patch = { metadata: { uid, resourceVersion }, status: { nominatedNodeName: null } };
  return patchObject(client, { ...address, subresource: 'status' }, patch, { ...PATCH, signal });
}
