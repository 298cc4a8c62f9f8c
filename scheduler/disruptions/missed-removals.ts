import { timeText } from '#shared/api/fields.ts';
import type { Removals } from '#shared/domain/disruption/removals.ts';
import { hasEnded, isBound, type Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { type KubeObject, readRevision } from '#shared/kube/kube-object.ts';
import { SCHEDULED_POD } from '#shared/kube/protobuf/kube-messages.ts';
import { decodeWith } from '#shared/kube/reflector/reflector.ts';
import type { ListWatch } from '#shared/kube/reflector/list-watch.ts';
import { createPageSize } from '#shared/kube/reflector/reflector-target.ts';
import { readWatch } from '#shared/kube/reflector/read-watch.ts';
import { PODS } from '#shared/kube/resource.ts';
import { forwardAbort, untilAborted } from '#shared/runtime/clock.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';
import { type PositionAddress, readPosition, writeGaps } from './handled-position.ts';
import { isRemovedPod, removalOf, removedAt } from './watch-removals.ts';

/** The range to read again: everything after `since`, up to the first list of this process. */
interface MissedSpan {
  readonly since: string;
  readonly until: string;
}

interface MissedOptions extends ClientContext {
  readonly removals: Removals;
  readonly snapshot: Pick<ClusterSnapshot, 'nodes'>;
}

/**
 * The API server ends each watch after this time. The revision of a list is that of all kinds, so no event of a pod may
 * ever reach it; a watch in which nothing comes has nothing more to say.
 */
const WATCH_SECONDS = 3;

/**
 * Follows what happened to pods while no replica ran. `complete`: the API server still knew everything. `expired`: it
 * has forgotten the beginning, and the removals of that time stay unknown. `broken`: the caller may try again.
 */
async function readMissedRemovals(
  options: MissedOptions,
  { since, until }: MissedSpan,
  signal: AbortSignal,
): Promise<'complete' | 'expired' | 'broken'> {
  const stop = new AbortController();
  const unlink = forwardAbort(signal, stop);
  const state = { isReached: false, position: since };
  const onPosition = (resourceVersion: string): void => {
    state.position = resourceVersion;
    state.isReached = (readRevision(resourceVersion) ?? 0) >= (readRevision(until) ?? 0);
    if (state.isReached) stop.abort();
  };
  const store = sinkOf(options);
  const nothing = (): undefined => undefined;
  const callbacks = {
    store,
    onPosition,
    onActivity: nothing,
    onListed: nothing,
    watchSeconds: () => WATCH_SECONDS,
  };
  const target = { ...options, resource: PODS, message: SCHEDULED_POD, pageSize: createPageSize(1), ...callbacks };
  let from: string;
  let reading: Awaited<ReturnType<typeof readWatch>>;
  do {
    from = state.position;
    reading = await readWatch(target, from, stop.signal);
  } while (reading.ending.kind === 'ended' && state.position !== from && !stop.signal.aborted);
  unlink();
  const { ending } = reading;
  if (state.isReached || ending.kind === 'ended') return 'complete';
  return ending.kind === 'refused' && ending.failure.kind === 'gone' ? 'expired' : 'broken';
}

function sinkOf({ removals, snapshot, clock }: MissedOptions) {
  const decode = decodeWith(decodePod);
  const begin = (pod: Pod, raw: KubeObject, hasFailed: boolean): void => {
    removals.begin({ ...removalOf(pod, raw, snapshot), at: removedAt(pod, clock.now()) }, hasFailed);
  };
  return {
    set: (raw: KubeObject): void => {
      const pod = decode(raw);
      if (isRemovedPod(pod, raw)) begin(pod, raw, hasEnded(pod));
    },
    remove: (raw: KubeObject): void => {
      const pod = decode(raw);
      if (!isBound(pod)) return;
      if (!hasEnded(pod)) begin(pod, raw, false);
      removals.gone(pod.uid, removedAt(pod, clock.now()));
    },
    replace: () => () => undefined,
  };
}

/**
 * Reads once, in the first term of a process, what happened to pods while no replica ran. A replica that was on standby
 * has seen everything. The returned function never rejects.
 */
export function catchUpOnce(
  options: MissedOptions & { readonly pods: Pick<ListWatch, 'position' | 'synced'> },
  address: PositionAddress,
): (signal: AbortSignal) => Promise<void> {
  const { client, clock, log, pods } = options;
  const listed = pods.synced.then(() => ({ until: pods.position(), at: clock.now() }));
  const faults = faultLog(log, 'Removals before the start not read');
  let isDone = false;
  return async (signal) => {
    if (isDone) return;
    try {
      await Promise.race([listed, untilAborted(signal)]);
      if (signal.aborted) return;
      const { until, at } = await listed;
      const { position, gaps } = await readPosition(client, address, signal);
      const outcome = position && (await readMissed(options, { since: position.resourceVersion, until }, signal));
      if (position !== undefined && outcome === 'expired') {
        const gap = { from: position.at, to: at };
        log.warn({ from: timeText(gap.from), to: timeText(gap.to) }, 'Removals in this period are not recorded');
        await writeGaps(client, address, [...gaps, gap], signal);
      }
      isDone = outcome !== 'broken';
      faults.worked('removals');
    } catch (error) {
      faults.threw('removals', error);
    }
  };
}

async function readMissed(options: MissedOptions, span: MissedSpan, signal: AbortSignal) {
  const [since, until] = [span.since, span.until].map(readRevision);
  if (since === undefined || until === undefined || since >= until) return 'complete';
  return readMissedRemovals(options, span, signal);
}
