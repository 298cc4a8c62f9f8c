import { describe, expect, test } from 'vitest';
import { type MemoryReadings, NO_MEMORY_READINGS } from '#shared/domain/pressure/memory-figure.ts';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
import { abortReason, type FreshPod } from '#shared/decide/eviction/eviction.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { snapshot, memoryReadings, type NodePod, nodePod, policy } from '#test/agent/node-scene.ts';
import { ABORTS } from '#shared/decide/eviction/messages.ts';

const hog: NodePod = { name: 'hog', requests: { memory: '100Mi' }, usageMiB: 500 };
const HOG = 'default/hog';
const SHORT = memoryReadings(60, 1000, 100);
const hardThreshold = policy().thresholds[0]?.id ?? '';
const [eviction] = decide(FIRST_STATE, snapshot({ now: 0, availableMiB: 50, pods: [hog] }), policy()).evictions;

function found(changes: Partial<NodePod> = {}, namespace: 'open' | 'ignored' = 'open'): FreshPod {
  return { kind: 'found', pod: nodePod({ ...hog, ...changes }), namespace };
}

function answer(fresh: FreshPod, readings = SHORT, reclaimable: MemoryReadings = NO_MEMORY_READINGS, rules = policy()) {
  if (eviction === undefined) throw new Error('no pod was chosen');
  return abortReason(eviction, { fresh, view: { readings, reclaimable } }, rules);
}

describe('abortReason', () => {
  test('an unchanged pod and node let the eviction proceed', () => {
    expect(answer(found())).toBeUndefined();
  });

  test.each<[sentence: string, fresh: FreshPod, message: string]>([
    ['a pod that is gone', { kind: 'gone' }, ABORTS.gone(HOG)],
    ['a successor of the same name', found({ uid: 'other' }), ABORTS.otherUid(HOG, 'other', 'uid-hog')],
    [
      'a pod that another client deleted',
      found({ deletion: { at: 0, gracePeriodSeconds: 1 } }),
      ABORTS.terminating(HOG),
    ],
    [
      'an opt-out that the watch had not delivered yet',
      found({ annotations: { 'plimsoll.dev/evict': 'never' } }),
      ABORTS.nowProtected(HOG, 'the pod asked never to be evicted'),
    ],
    [
      'a namespace that is ignored since',
      found({}, 'ignored'),
      ABORTS.nowProtected(HOG, 'the pod is in the protected namespace default'),
    ],
  ])('%s is left alone', (_sentence, fresh, message) => {
    const rules = policy({ protect: { ...policy().protect, optOut: 'Always' } });
    const outcome = answer(fresh, SHORT, NO_MEMORY_READINGS, rules);
    expect(outcome).toMatchObject({ kind: 'overtaken', message });
  });

  test('an opt-out of a pod above its request does not count in the severe stage', () => {
    expect(answer(found({ annotations: { 'plimsoll.dev/evict': 'never' } }))).toBeUndefined();
  });

  test('a pod that cannot be read again counts as an API server failure, not as a reason to evict another one', () => {
    expect(answer({ kind: 'unknown', message: 'no answer within 10000 ms', retryAfterSeconds: 1 })).toEqual({
      kind: 'unconfirmed',
      message: ABORTS.unread(HOG, 'no answer within 10000 ms'),
      isAnswered: false,
      retryAfterSeconds: 1,
    });
  });

  test('a pod that cannot be decoded affects only that pod', () => {
    expect(answer({ kind: 'unreadable', message: 'spec.priority: m' })).toEqual({
      kind: 'unreadable',
      message: ABORTS.unread(HOG, 'spec.priority: m'),
    });
  });

  test.each<[sentence: string, rules: Partial<AgentPolicy>]>([
    ['the policy is in DryRun by now', { mode: 'DryRun' }],
    ['the threshold is gone', { thresholds: [] }],
    ['the threshold is in dry run now', { thresholdModes: new Map([[hardThreshold, 'DryRun']]) }],
  ])('nothing is sent when %s', (_sentence, changes) => {
    expect(answer(found(), SHORT, NO_MEMORY_READINGS, policy(changes))).toMatchObject({ kind: 'disarmed' });
  });

  test('a terminating pod may be asked to terminate sooner, if the eviction is a shortening', () => {
    const terminating = found({ deletion: { at: 0, gracePeriodSeconds: 30 } });
    expect(answer(terminating)).toMatchObject({ kind: 'overtaken' });
    const view = { readings: SHORT, reclaimable: NO_MEMORY_READINGS };
    const shortening = eviction && { ...eviction, isShortening: true };
    expect(shortening && abortReason(shortening, { fresh: terminating, view }, policy())).toBeUndefined();
  });

  test.each<[sentence: string, availableMiB: number | undefined, isSent: boolean]>([
    ['still short', 99, true],
    ['recovered meanwhile', 101, false],
    ['not known any more', undefined, false],
  ])('a signal that is %s', (_sentence, availableMiB, isSent) => {
    expect(answer(found(), memoryReadings(availableMiB, 1000, 100)) === undefined).toBe(isSent);
  });

  test('reclaimable memory ends the attempt, whatever the kubelet counts', () => {
    expect(answer(found(), SHORT, memoryReadings(101, 1000, 100))).toMatchObject({ kind: 'relieved' });
    expect(answer(found(), memoryReadings(900, 1000, 100), memoryReadings(99, 1000, 100))).toBeUndefined();
  });
});
