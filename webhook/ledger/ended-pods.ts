import type { KubeClient } from '#shared/kube/client.ts';
import { listObjects } from '#shared/kube/objects.ts';
import { readWatch } from '#shared/kube/read-watch.ts';
import { isFailure, planAfter, REFLECTOR_BACKOFF } from '#shared/kube/reflector-plan.ts';
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
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

const MOST_REMEMBERED = 10_000;

/**
 * Watches deletions alone, from the moment it begins: no pod is kept. A pod that comes and goes between two counts is
 * in neither, and without this its reservation would stand until it expires.
 */
export function createEndedPods({ client, clock, random, log }: EndedPodsOptions): EndedPods {
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
    pageSize: 1,
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

  async function follow(failures: number, signal: AbortSignal): Promise<number> {
    position ??= await newest(client, signal);
    const reading = await readWatch(target, position, signal);
    const plan = planAfter(reading, failures, false);
    if (plan.step === 'list') position = undefined;
    if (isFailure(reading.ending)) throw new Error(`Watch of deleted pods: ${reading.ending.kind}`);
    return plan.failures;
  }

  return {
    has: (uid) => ended.has(uid),
    run: async (signal) => {
      let failures = 0;
      while (!signal.aborted) {
        try {
          failures = await follow(failures, signal);
        } catch (error) {
          failures += 1;
          log.warn({ err: error, failures }, 'Could not follow deletions of pods');
          await clock.sleep(backoffDelay(REFLECTOR_BACKOFF, failures - 1, random()), signal);
        }
      }
    },
  };
}

/** What the server stands at; of the list itself nothing is wanted. */
async function newest(client: KubeClient, signal: AbortSignal): Promise<string> {
  const page = await listObjects(client, { resource: PODS }, { limit: 1, signal });
  if (page.kind !== 'ok') throw new Error(`Could not list pods: ${page.message}`);
  return page.object.resourceVersion;
}
