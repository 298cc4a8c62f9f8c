import type { KubeClient } from '#shared/kube/client.ts';
import { listObjects } from '#shared/kube/objects.ts';
import { readWatch } from '#shared/kube/read-watch.ts';
import type { Failure } from '#shared/kube/outcome.ts';
import { createPageSize } from '#shared/kube/page-size.ts';
import { planAfter, PROMPT_BACKOFF } from '#shared/kube/reflector-plan.ts';
import type { Target } from '#shared/kube/reflector-target.ts';
import { PODS } from '#shared/kube/resource.ts';
import { backoffDelay } from '#shared/runtime/backoff.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';

/** Pods that were deleted lately: gone for good, so that nothing need be kept for them. Not knowing one is no harm. */
export interface EndedPods {
  has(uid: string): boolean;
  run(signal: AbortSignal): Promise<void>;
}

export interface EndedPodsOptions {
  readonly client: KubeClient;
  /** Whether there is any ledger that could want to know. */
  readonly isNeeded: () => boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

interface Start {
  readonly kind: 'at';
  readonly position: string;
}

const MOST_REMEMBERED = 10_000;
const LOOK_EVERY_MS = 1_000;

/**
 * Watches deletions alone, from the moment it begins: no pod is kept. A pod that comes and goes between two counts is
 * in neither, and without this its reservation would stand until it expires.
 */
export function createEndedPods({ client, isNeeded, clock, random, log }: EndedPodsOptions): EndedPods {
  const ended = new Set<string>();
  let position: string | undefined;

  function remember(uid: string | undefined): void {
    if (uid === undefined) return;
    ended.add(uid);
    const [oldest] = ended;
    if (ended.size > MOST_REMEMBERED && oldest !== undefined) ended.delete(oldest);
  }

  const target: Target = {
    client,
    resource: PODS,
    pageSize: createPageSize(1),
    clock,
    random,
    store: {
      set: () => undefined,
      remove: ({ metadata }) => remember(metadata.uid),
      replace: () => () => undefined,
    },
    heard: () => undefined,
    listed: () => undefined,
    moved: (resourceVersion) => void (position = resourceVersion),
  };

  /** Resolves with how often it has failed in a row. */
  async function follow(failures: number, signal: AbortSignal): Promise<number> {
    const start = position === undefined ? await newest(client, signal) : ({ kind: 'at', position } as const);
    if (start.kind !== 'at') return failed(failures + 1, start.message, signal);
    const reading = await readWatch(target, start.position, signal);
    const plan = planAfter(reading, failures, false);
    if (plan.step === 'list') position = undefined;
    return plan.failures === 0 ? 0 : failed(plan.failures, reading.ending.kind, signal);
  }

  function failed(failures: number, why: string, { aborted: isWanted }: AbortSignal): number {
    if (!isWanted) log.warn({ why, failures }, 'Could not follow deletions of pods');
    return failures;
  }

  async function followAndPause(failures: number, signal: AbortSignal): Promise<number> {
    const now = isNeeded() ? await follow(failures, signal) : 0;
    const pauseMs = now === 0 ? LOOK_EVERY_MS : backoffDelay(PROMPT_BACKOFF, now - 1, random());
    await clock.sleep(pauseMs, signal);
    return now;
  }

  return {
    has: (uid) => ended.has(uid),
    run: async (signal) => {
      let failures = 0;
      while (!signal.aborted) failures = await followAndPause(failures, signal);
    },
  };
}

/** What the server stands at; of the list itself nothing is wanted. */
async function newest(client: KubeClient, signal: AbortSignal): Promise<Start | Failure> {
  const page = await listObjects(client, { resource: PODS }, { limit: 1, signal });
  return page.kind === 'ok' ? { kind: 'at', position: page.object.resourceVersion } : page;
}
