import { expect } from 'vitest';
import { at, type Harness } from '#test/contract/harness.ts';
import { slowPod, wasAsked } from '#test/cluster/admission/support/registered-webhooks.ts';
import { letTimePass } from '#test/build/waiting.ts';

const CLIENTS = 4;
const PAUSE_MS = 20;

/** The number of each answer to pods that clients kept creating. */
type Answers = ReadonlyMap<string, number>;

/** Creates pods, dry run, for as long as something takes, and counts the answers. */
export async function answersWhile(api: Harness, something: () => Promise<void>): Promise<Answers> {
  const done = new AbortController();
  const answers = new Map<string, number>();
  const load = Array.from({ length: CLIENTS }, async () => {
    while (!done.signal.aborted) {
      const given = await api.post(api.core('pods'), slowPod('slow'), { query: { dryRun: 'All' } });
      const answer = `${given.status} ${wasAsked(given) ? 'after asking' : String(at(given.body, 'message'))}`;
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      await letTimePass(PAUSE_MS, 'load');
    }
  });
  await something().finally(() => done.abort());
  await Promise.all(load);
  return answers;
}

/** A failed handshake looks like a timeout or an internal error here, so none is allowed. */
export function expectAllAsked(answers: Answers, atLeast: number): void {
  expect([...answers.keys()]).toEqual(['201 after asking']);
  expect([...answers.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(atLeast);
}
