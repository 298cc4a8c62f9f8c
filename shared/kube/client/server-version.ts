import { computePodsAs } from '#shared/kube/decode/pod-arithmetic.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { type Backoff, repeat } from '#shared/runtime/repeat.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';
import type { KubeClient } from './client.ts';

const PERIOD_MS = 60_000;
const DEADLINE_MS = 5_000;
/** Fewer are what a busy machine makes of a start. */
const FAILURES_TO_WARN = 3;
const BACKOFF: Backoff = { initialMs: 1_000, maxMs: 60_000, factor: 2, jitter: 0.5 };

/**
 * Reads the version of the API server, such as `v1.36.3`, and computes pods as it does from now on. Rejects with an
 * error that names the cause.
 */
export async function computePodsAsServer(client: KubeClient, signal?: AbortSignal): Promise<string> {
  const answer = await client.request({ path: '/version', timeoutMs: DEADLINE_MS, ...(signal && { signal }) });
  if (answer.kind !== 'ok') throw new Error(`cannot read the version of the API server: ${answer.message}`);
  const version = String(fieldOf(answer.object, 'gitVersion'));
  computePodsAs(version);
  return version;
}

/**
 * Keeps to the version of the API server, which may be upgraded at any time, until `signal` aborts. Resolves after the
 * first attempt, so that what is decoded after it is computed right. What was decoded before an upgrade is computed anew
 * when its object changes or is listed again.
 */
export function followServerVersion(
  { client, clock, log }: { readonly client: KubeClient; readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<undefined> {
  const first = Promise.withResolvers<undefined>();
  let known: string | undefined;
  const task = async (round: AbortSignal): Promise<void> => {
    const version = await computePodsAsServer(client, round);
    if (version !== known) log.info({ version }, 'Pods are computed as by this version of Kubernetes');
    known = version;
    first.resolve(undefined);
  };
  const rounds = reportRounds(log, 'Version of the API server not read');
  const onError = (error: unknown, failures: number): void => {
    if (failures >= FAILURES_TO_WARN) rounds.onError(error);
    first.resolve(undefined);
  };
  void repeat(
    { task, periodMs: PERIOD_MS, deadlineMs: DEADLINE_MS, backoff: BACKOFF, ...rounds, onError, clock },
    signal,
  );
  return first.promise;
}
