import { describe, expect, test } from 'vitest';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';
import type { LoopRecord } from '#shared/domain/preemption/loop/loop-record.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { type RecordedLoops, recordOnce, type RecordOptions } from '#scheduler/preemptions/record-loops.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { loopsAfter } from './loops-after.ts';

const HELD = { isHeld: () => true };
const RUNNING = new AbortController().signal;
const DONE: Outcome<unknown> = { kind: 'ok', object: {}, warnings: [] };

/** NodePressures that take in what is written to them. */
function opened(rounds: number, nodes: readonly string[] = ['n0', 'n1'], answer: Outcome<unknown> = DONE) {
  const pressures = new Map<string, readonly LoopRecord[]>(nodes.map((node) => [node, []]));
  const warned: object[] = [];
  const { client, requests } = scriptedClient(({ path, body }) => {
    if (answer.kind === 'ok') pressures.set(path.split('/').at(-1) ?? '', decodeNodePressure(body).preemptionLoops);
    return answer;
  });
  const recorded = (): Iterable<RecordedLoops> => Array.from(pressures, ([node, records]) => ({ node, records }));
  const loops = loopsAfter(rounds);
  const log = { warn: (facts: object) => void warned.push(facts) };
  const options = { client, loops, recorded, log } as unknown as RecordOptions;
  return { options, pressures, requests, warned, loops };
}

describe('recordOnce', () => {
  test('the loop is written to the node of its latest round, once', async () => {
    const { options, pressures, requests } = opened(3);
    await recordOnce(options, HELD, RUNNING);
    await recordOnce(options, HELD, RUNNING);
    expect(requests.map(({ method, path }) => [method, path])).toEqual([
      ['PATCH', '/apis/plimsoll.dev/v1alpha1/nodepressures/n0'],
    ]);
    expect(pressures.get('n0')).toMatchObject([
      { preemptor: { kind: 'Pod', name: 'a' }, victim: { kind: 'Pod', name: 'b' }, action: 'Refuse' },
    ]);
    expect(Object.keys((requests[0]?.body as { readonly spec: object }).spec)).toEqual(['preemptionLoops']);
  });

  test('what no round stands for any more is removed', async () => {
    const { options, pressures } = opened(0);
    pressures.set('n1', opened(3).loops.records().get('n0') ?? []);
    expect(pressures.get('n1')).toHaveLength(1);
    await recordOnce(options, HELD, RUNNING);
    expect(pressures.get('n1')).toEqual([]);
  });

  test('nothing is written without the lease, after the end, or before all NodePressures are known', async () => {
    const { options, requests } = opened(3);
    await recordOnce(options, { isHeld: () => false }, RUNNING);
    await recordOnce(options, HELD, AbortSignal.abort());
    await recordOnce({ ...options, recorded: () => undefined }, HELD, RUNNING);
    expect(requests).toEqual([]);
  });

  test('a node without a NodePressure has no record, and none is made', async () => {
    const { options, requests } = opened(3, ['n1']);
    await recordOnce(options, HELD, RUNNING);
    expect(requests).toEqual([]);
  });

  test.each([
    ['forbidden', 'ends the pass', ['n0']],
    ['invalid', 'is that of one object, and the next is written', ['n0', 'n1']],
  ] as const)('a write that is refused as %s is logged and %s', async (kind, _, tried) => {
    const { options, pressures, requests, warned } = opened(3, ['n0', 'n1'], { kind, message: 'no' });
    pressures.set('n1', opened(3).loops.records().get('n0') ?? []);
    await recordOnce(options, HELD, RUNNING);
    expect(requests).toHaveLength(tried.length);
    expect(warned).toEqual(tried.map((node) => ({ object: node, fault: kind, message: 'no' })));
  });
});
