import { expect, test } from 'vitest';
import { KUBELET_BACKOFF, nextRestart } from '#sandbox/node/containers/container-runner.ts';

test('a container that keeps failing waits as long as with the kubelet', () => {
  const delays: number[] = [];
  let inARow = 0;
  for (let restart = 0; restart < 8; restart += 1) {
    const next = nextRestart(KUBELET_BACKOFF, inARow, 1_000);
    delays.push(next.delayMs / 1000);
    inARow = next.restartsInARow;
  }
  expect(delays).toEqual([0, 10, 20, 40, 80, 160, 300, 300]);
});

test('ten good minutes make up for every failure before', () => {
  expect(nextRestart(KUBELET_BACKOFF, 5, 600_000)).toEqual({ delayMs: 0, restartsInARow: 1 });
});
