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

test('why-not and explain name the gang of a pod, how many of its pods exist, and why it waits', async () => {
  const annotations = { 'plimsoll.dev/gang': 'train', 'plimsoll.dev/gang-size': '8' };
  const schedulingGates = [{ name: 'plimsoll.dev/queue' }];
  const members = [0, 1, 2].map((minute) => {
    const pod = queuedPod('batch', { name: `member-${minute}`, cpu: 1, minute, annotations });
    return { ...pod, spec: { ...(pod as { readonly spec: object }).spec, schedulingGates } };
  });
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [...EXAMPLE_QUEUES, ...members] });
  const why = 'waits for 5 of 8 pods of gang batch/train';
  const rows = await runPlimsoll(['why-not', '-A', '-f', '-'], list);
  expect(rows.stdout.split('\n').filter((line) => line.endsWith(why))).toHaveLength(3);
  const { stdout } = await runPlimsoll(['explain', 'pod', 'batch/member-0', '-f', '-'], list);
  expect(stdout).toMatch(new RegExp(`^Queue: +batch: ${why}$`, 'm'));
  expect(stdout).toMatch(/^Gang: +batch\/train: 3 of 8 pods exist, 0 let in; all of them run together$/m);
});
