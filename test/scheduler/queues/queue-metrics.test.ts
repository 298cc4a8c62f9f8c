import { expect, test } from 'vitest';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { createQueueMetrics, showOldestWaiting } from '#scheduler/queues/queue-metrics.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';

const NONE = { held: [], seeking: [], homeless: [], returned: [] };

test('the oldest waiting pod of the twenty queues that wait longest is shown, and no queue in which none waits', async () => {
  const metrics = createMetrics('scheduler');
  const queueMetrics = createQueueMetrics(metrics);
  const shown = async () => (await metrics.text()).match(/^plimsoll_queue_oldest_waiting_timestamp_seconds.*/gm) ?? [];
  const waits = (queue: string, waitingSince: number) => ({ queue, waitingSince }) as WaitingPod;
  showOldestWaiting(queueMetrics, {
    ...NONE,
    held: [waits('batch', 9_000), waits('web', 5_000)],
    seeking: [waits('batch', 7_000)],
  });
  expect(await shown()).toEqual([
    'plimsoll_queue_oldest_waiting_timestamp_seconds{queue="web"} 5',
    'plimsoll_queue_oldest_waiting_timestamp_seconds{queue="batch"} 7',
  ]);
  const many = Array.from({ length: 30 }, (_, index) => waits(`q${index}`, (30 - index) * 1_000));
  showOldestWaiting(queueMetrics, { ...NONE, held: many });
  expect((await shown()).length).toBe(20);
  expect(await shown()).not.toContain('plimsoll_queue_oldest_waiting_timestamp_seconds{queue="q0"} 30');
  showOldestWaiting(queueMetrics, NONE);
  expect(await shown()).toEqual([]);
});
