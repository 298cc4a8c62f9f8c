import { describe, expect, test } from 'vitest';
import { sentencesOf } from '#cli/explain/explain-disruption.ts';
import { causeOf, type Evidence } from '#shared/domain/disruption/cause.ts';
import {
  type Cause,
  CAUSES,
  type Disruption,
  madeRoom,
  NO_OUTCOME,
  type Verdict,
} from '#shared/domain/disruption/disruption.ts';
import { NO_EVIDENCE } from '#test/shared/domain/disruption/seen-removals.ts';

const AGENT = { code: 'Ranked', text: 'uses 2Gi memory, over its request of 1Gi', facts: {} };
const MOVE = { code: 'EvensLoads', text: 'node-1 is at 80% of cpu, and node-2 at 20%', facts: {} };
const RECLAIM = { code: 'Reclaim', text: 'queue a is under its guarantee, and queue b over its own', facts: {} };
const byKubelet = (statusReason: string) => ({ disruptionTarget: 'TerminationByKubelet', statusReason });
const byApi = { disruptionTarget: 'EvictionByEvictionAPI' };

/** Evidence that leads to every reason of cause.ts. */
const EVIDENCE: readonly Partial<Evidence>[] = [
  { disruptionTarget: 'PreemptionByScheduler' },
  { ...byApi, agent: AGENT },
  { ...byApi, rescheduler: MOVE },
  { ...byApi, queues: RECLAIM },
  { ...byApi, node: { isCordoned: true, isSilent: false } },
  byApi,
  ...['Evicted', 'Preempting', 'Terminated', 'NodeShutdown', 'Other'].map(byKubelet),
  { disruptionTarget: 'DeletionByTaintManager' },
  { disruptionTarget: 'DeletionByTaintManager', node: { isCordoned: false, isSilent: true } },
  { disruptionTarget: 'DeletionByPodGC' },
  { disruptionTarget: 'SomethingElse' },
  { isOomKilled: true },
  {},
  { isWitnessed: false },
];
const VERDICTS = EVIDENCE.map((each) => causeOf({ ...NO_EVIDENCE, ...each }));

/** Every sentence about a removal with that verdict, in a record that says as much as it can. */
function sentencesAbout(verdict: Verdict): string {
  const preemptor = { uid: 'u', pod: 'p', priorityClassName: 'high', priority: 9, nominatedNode: 'node-1' };
  const disruption: Disruption = {
    namespace: 'shop',
    name: 'web-0.12345678',
    spec: {
      pod: 'web-0',
      podUid: '12345678',
      owner: { kind: 'ReplicaSet', name: 'web', uid: 'o' },
      priorityClassName: 'low',
      classRule: undefined,
      priority: 1,
      node: 'node-1',
      removedAt: 0,
      decision: undefined,
      debited: { rules: ['limit/web', 'owner/o'], overran: 'limit/web' },
      ranked: [],
      ...verdict,
      ...madeRoom(verdict.cause, preemptor),
    },
    outcome: {
      count: 2,
      others: [{ pod: 'web-2', podUid: 'v' }],
      goneAt: 1_000,
      replacement: { pod: 'web-1', node: 'node-2' },
      placedOn: 'node-2',
      avoid: { isHard: true, until: 2_000 },
    },
  };
  return [disruption, { ...disruption, outcome: NO_OUTCOME }]
    .flatMap((each) => sentencesOf(each, 3_000, 'web-2'))
    .join('\n');
}

/** The words that belong to some causes alone. The Eviction API is a name: drains and other callers use it, too. */
const WORDS: readonly (readonly [word: RegExp, causes: readonly Cause[]])[] = [
  [/preempt/i, ['Preemption']],
  [/evict/i, ['Eviction', 'KubeletEviction']],
  [/drain/i, ['Drain']],
  [/taint/i, ['Taint']],
  [/killed|out of memory/i, ['OOMKill']],
];

describe('each cause has a word of its own', () => {
  test('the evidence leads to every cause', () => {
    expect(CAUSES.filter((cause) => !VERDICTS.some((each) => each.cause === cause))).toEqual([]);
  });

  test.each(VERDICTS.map((verdict) => [verdict.cause, verdict.because.code, verdict] as const))(
    '%s, %s: no sentence has the word of another cause',
    (cause, _, verdict) => {
      const text = sentencesAbout(verdict).replaceAll('Eviction API', '');
      const found = WORDS.filter(([word, causes]) => !causes.includes(cause) && word.test(text));
      expect(found.map(([word]) => `${String(word)} in ${text}`)).toEqual([]);
    },
  );

  test.each<Cause>(['Preemption', 'Eviction', 'KubeletEviction', 'Drain', 'Taint', 'OOMKill'])(
    '%s: its own word stands there',
    (cause) => {
      const verdict = VERDICTS.find((each) => each.cause === cause);
      const word = WORDS.find(([, causes]) => causes.includes(cause))?.[0];
      expect(verdict && sentencesAbout(verdict)).toMatch(word ?? '');
    },
  );
});
