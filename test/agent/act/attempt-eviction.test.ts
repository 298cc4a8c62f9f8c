import { describe, expect, test } from 'vitest';
import { readAgain } from '#agent/act/attempt-eviction.ts';
import { buildPod } from '#test/build/cluster.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';

const deletionTimestamp = '2026-01-01T00:00:00Z';
const pod = buildPod({ name: 'hog' });

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
    expect(await readAgain(client, { pod }, manualClock(), new AbortController().signal)).toEqual({ kind });
  });
});
