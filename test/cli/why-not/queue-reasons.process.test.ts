import { expect, test } from 'vitest';
import { queueReasons } from '#cli/why-not/queue-reasons.ts';
import { EXAMPLE_QUEUES, queuedPod } from '#test/cli/example-queues.ts';
import { runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { manifestsOf } from '#test/cli/vector-cluster.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const WAITS = 'waits for 2 cpu: queue batch is at its deserved 5';

test('the reason of a waiting pod names the queue that holds more than it deserves, and its largest pod', () => {
  const big = queuedPod('batch', { name: 'big', cpu: 1.5, minute: 0, node: 'node-2' });
  const read = { manifests: manifestsOf([...EXAMPLE_QUEUES, big]), now: NOW, namespace: 'default' };
  const text = queueReasons(read)('batch/train-6')?.text ?? '';
  expect(text).toMatch(/^waits for .* cpu: queue batch is at its deserved/);
  expect(text).toMatch(/; queue batch holds 7500m cpu and deserves 4; its largest pod is batch\/big$/);
  expect(queueReasons(read)('batch/train-0')).toBeUndefined();
});

test('why-not -A prints the reason of the queue itself', async () => {
  const gated = EXAMPLE_QUEUES.map((each) => {
    const { metadata, spec } = each as { readonly metadata: { readonly name: string }; readonly spec: object };
    return metadata.name === 'train-6'
      ? { ...each, spec: { ...spec, schedulingGates: [{ name: 'plimsoll.dev/queue' }] } }
      : each;
  });
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: gated });
  const { code, stdout } = await runPlimsoll(['why-not', '-A', '-f', '-'], list);
  const row = stdout.split('\n').find((line) => line.includes('train-6'));
  expect({ code, row }).toEqual({ code: 0, row: expect.stringContaining(WAITS) as unknown });
  expect(row).toContain('queue batch holds 6 cpu and deserves 4');
});
