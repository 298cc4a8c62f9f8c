import { expect } from 'vitest';
import { createClient } from '#shared/kube/client/client.ts';
import type { ClusterConnection } from '#shared/kube/client/connection.ts';
import { at, pod } from '#test/contract/harness.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

/** Pods that are created all the while, twenty a second, as dry runs. */
export interface PodCreates {
  /** Nothing was refused since the last time, and enough was created to tell: a quick step may be over before that. */
  expectNoneRefused(): Promise<void>;
  stop(): Promise<void>;
}

const PAUSE_MS = 50;
const WITHIN_MS = 60_000;

interface PodCreatesOptions {
  readonly namespace?: string;
  /** The class that each pod must have as it would be stored. */
  readonly priorityClassName?: string;
}

/** Creates pods in a namespace, `default` unless said otherwise, where no rule of Plimsoll may refuse one. */
export function startPodCreates(
  connection: ClusterConnection,
  { namespace = 'default', priorityClassName }: PodCreatesOptions = {},
): PodCreates {
  const client = createClient(connection, { userAgent: 'plimsoll-test' });
  const faults = new Set<string>();
  let created = 0;
  const end = new AbortController();

  async function create(): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const answer = await client.request({ method: 'POST', path, query: { dryRun: 'All' }, body: pod('web') });
    if (answer.kind === 'ok') {
      created += 1;
      const given = at(answer.object, 'spec.priorityClassName');
      if (given !== priorityClassName) faults.add(`stored with the class ${String(given)}`);
    }
    // A new cluster has no account for pods yet.
    else if (!answer.message.includes('serviceaccount "default" not found')) faults.add(answer.message);
  }

  const running = (async () => {
    while (!end.signal.aborted) await Promise.all([create(), letTimePass(PAUSE_MS, 'load')]);
  })();
  return {
    expectNoneRefused: async () => {
      await eventually(() => Promise.resolve().then(() => expect(created).toBeGreaterThan(10)), WITHIN_MS);
      expect([...faults]).toEqual([]);
      created = 0;
    },
    stop: async () => {
      end.abort();
      await running;
      client.close();
    },
  };
}
