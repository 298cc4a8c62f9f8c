import { expect, test } from 'vitest';
import type { NodePod } from '#test/agent/node-scene.ts';
import { whoWent } from '#test/shared/decide/eviction/episode.ts';

const pod = (name: string, change: Partial<NodePod> = {}): NodePod => ({
  name,
  requests: { memory: '10Mi' },
  usageMiB: 50,
  ...change,
});
const GANG = { labels: { 'plimsoll.dev/gang': 'train', 'plimsoll.dev/gang-size': '8' } };

function firstOf(...pods: readonly NodePod[]): string | undefined {
  return whoWent([0, 31_000].map((now) => ({ now, availableMiB: 20, pods }))).flat()[0];
}

test('of pods that are equal for the node, the one of a gang goes last', () => {
  expect(firstOf(pod('a'), pod('b'))).toBe('a');
  expect(firstOf(pod('a', GANG), pod('b'))).toBe('b');
  expect(firstOf(pod('a', { labels: { 'plimsoll.dev/gang': 'train' } }), pod('b'))).toBe('a');
});

test('a gang keeps no pod from going before one of a higher priority or one that uses less', () => {
  expect(firstOf(pod('a', GANG), pod('b', { priority: 1 }))).toBe('a');
  expect(firstOf(pod('a', { ...GANG, usageMiB: 60 }), pod('b'))).toBe('a');
});
