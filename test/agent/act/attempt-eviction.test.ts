import { describe, expect, test } from 'vitest';
import { dryRunEviction, readAgain, readFresh } from '#agent/attempts.ts';
import type { Eviction } from '#shared/decide/eviction/eviction.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { because } from '#test/agent/node-scene.ts';
import { buildPod } from '#test/build/cluster.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';

const deletionTimestamp = '2026-01-01T00:00:00Z';
const pod = buildPod({ name: 'hog' });
const EVICTION: Eviction = {
  pod,
  graceSeconds: 5,
  usage: undefined,
  isShortening: false,
  optOut: 'honoured',
  urgency: undefined,
  signal: 'memory.available',
  stage: 'mild',
  mode: 'DryRun',
  threshold: {
    id: 'soft',
    signal: 'memory.available',
    value: { kind: 'share', share: 0.1 },
    gracePeriodSeconds: 30,
    minimumReclaim: undefined,
  },
  observed: undefined,
  because: because('SoftThresholdMet'),
};

function target(reason: string): object {
  return { conditions: [{ type: 'DisruptionTarget', status: 'True', reason }] };
}

describe('readAgain', () => {
  test.each<[what: string, object: object | undefined, kind: string]>([
    ['that runs is unharmed', { metadata: { uid: 'uid-hog' } }, 'foundUnharmed'],
    ['that terminates', { metadata: { uid: 'uid-hog', deletionTimestamp } }, 'foundEnding'],
    [
      'that terminates by the Eviction API',
      { metadata: { uid: 'uid-hog', deletionTimestamp }, status: target('EvictionByEvictionAPI') },
      'foundEnding',
    ],
    [
      'that kube-scheduler preempted is no eviction (S3-32)',
      { metadata: { uid: 'uid-hog', deletionTimestamp }, status: target('PreemptionByScheduler') },
      'foundPreempted',
    ],
    [
      'that cannot be decoded terminates as well',
      { metadata: { uid: 'uid-hog', deletionTimestamp }, spec: 7 },
      'foundEnding',
    ],
    ['of another UID is gone', { metadata: { uid: 'uid-other' } }, 'foundGone'],
    ['that is not found is gone', undefined, 'foundGone'],
  ])('a pod %s', async (_, object, kind) => {
    const { client } = scriptedClient(() =>
      object === undefined ? { kind: 'notFound', message: 'no' } : { kind: 'ok', object, warnings: [] },
    );
    expect(await readAgain(client, { pod, mode: 'Enforce' }, manualClock(), new AbortController().signal)).toEqual({
      kind,
    });
  });
});

describe('readFresh', () => {
  const FOUND: Outcome<unknown> = { kind: 'ok', object: { metadata: { uid: 'uid-hog', name: 'hog' } }, warnings: [] };
  const signal = new AbortController().signal;

  /** A server that leaves the first requests for each object without an answer. */
  function deafFor(count: number) {
    const asked = new Map<string, number>();
    return scriptedClient(({ path, timeoutMs = Infinity, signal: ends }) => {
      const before = asked.get(path) ?? 0;
      asked.set(path, before + 1);
      if (before >= count) return FOUND;
      return manual.sleep(timeoutMs, ends).then(() => ({ kind: 'timeout', message: 'no answer' }));
    });
  }
  let manual = manualClock();

  test.each([
    ['at once', 0, 0, 1],
    ['on a second connection', 1, 2000, 2],
    ['on a third one', 2, 5000, 3],
  ])('has the answer %s', async (_, deaf, afterMs, times) => {
    manual = manualClock();
    const { client, requests } = deafFor(deaf);
    let outcome: unknown;
    void readFresh(client, manual)(pod, signal).then((fresh) => void (outcome = fresh));
    if (afterMs > 0) await manual.advance(afterMs - 1);
    if (afterMs > 0) expect(outcome).toBeUndefined();
    await manual.advance(1);
    expect(outcome).toMatchObject({ kind: 'found', pod: { name: 'hog' } });
    expect(requests).toHaveLength(2 * times);
    expect(manual.sleepers).toBe(0);
  });

  test('says that there is none after ten seconds', async () => {
    manual = manualClock();
    const fresh = readFresh(deafFor(Infinity).client, manual)(pod, signal);
    await manual.advance(10_000);
    expect(await fresh).toMatchObject({ kind: 'unknown', message: 'no answer within 10 s', isAnswered: false });
  });

  test('takes a refusal for an answer', async () => {
    const { client, requests } = scriptedClient(() => ({ kind: 'forbidden', message: 'no', status: 403 }));
    expect(await readFresh(client, manualClock())(pod, signal)).toMatchObject({ kind: 'unknown', isAnswered: true });
    expect(requests).toHaveLength(2);
  });
});

test('a pod that terminates after a dry run with an unclear answer was removed by another program', async () => {
  const { client } = scriptedClient(() => ({
    kind: 'ok',
    object: { metadata: { uid: 'uid-hog', deletionTimestamp } },
    warnings: [],
  }));
  expect(await readAgain(client, { pod, mode: 'DryRun' }, manualClock(), new AbortController().signal)).toEqual({
    kind: 'foundGone',
  });
});

describe('dryRunEviction', () => {
  const refusal = { kind: 'tooManyRequests', message: 'busy', status: 429, retryAfterSeconds: 7 } as const;

  test.each<[answer: string, Outcome<unknown>, outcome: object]>([
    ['accepts', { kind: 'ok', object: {}, warnings: [] }, { kind: 'pretended' }],
    ['refuses', refusal, { kind: 'tooManyRequests', cause: 'throttled', message: 'busy', retryAfterSeconds: 7 }],
  ])('an API server that %s', async (_, answer, outcome) => {
    const { client, requests } = scriptedClient(() => answer);
    expect(await dryRunEviction(client)(EVICTION, new AbortController().signal)).toEqual(outcome);
    expect(requests).toMatchObject([
      {
        method: 'POST',
        query: { dryRun: 'All' },
        body: { deleteOptions: { preconditions: { uid: 'uid-hog' }, gracePeriodSeconds: 5 } },
      },
    ]);
  });
});
