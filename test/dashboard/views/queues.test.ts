import { describe, expect, test } from 'vitest';
import { redactQueues } from '#dashboard/views/redact.ts';
import { queueEntry, queueTree } from '#dashboard/views/queues.ts';
import { generatedQueues } from '#test/dashboard/generated-queues.ts';

const NOW = Date.parse('2026-11-26T03:00:00Z');
const queues = queueTree(generatedQueues(NOW).map(queueEntry));
const named = (name: string) => queues.find((queue) => queue.name === name);

function treeOf(...pairs: readonly (readonly [string, string])[]) {
  const objects = pairs.map(([name, parent]) => ({ metadata: { name }, spec: parent === '' ? {} : { parent } }));
  return queueTree(objects.map(queueEntry)).map(({ name, depth }) => `${'  '.repeat(depth)}${name}`);
}

describe('queueTree', () => {
  test('each queue stands before its children, siblings by name', () => {
    expect(queues.map(({ name, depth }) => [name, depth])).toEqual([
      ['root', 0],
      ['research', 1],
      ['training', 2],
      ['web', 1],
    ]);
  });

  test.each([
    ['ReclaimBlocked', 'True'],
    ['AboveMaximum', 'True'],
    ['SharesReturned', 'True'],
    ['NodesDoubted', 'True'],
    ['GangsWait', 'True'],
    ['Ready', 'False'],
    ['GuaranteesCovered', 'False'],
  ])('condition %s reports a problem while it is %s', (type, status) => {
    const troubled = (value: string) =>
      queueEntry({ metadata: { name: 'a' }, status: { conditions: [{ type, status: value }] } }).conditions[0]
        ?.isTrouble;
    expect([troubled(status), troubled(status === 'True' ? 'False' : 'True')]).toEqual([true, false]);
  });

  test('the root says whether reclaim evicts; by default it is in dry run', () => {
    const reclaim = (name: string, spec: object) => queueEntry({ metadata: { name }, spec }).reclaim;
    const given = { reclaim: { mode: 'Enforce' } };
    expect([reclaim('root', given), reclaim('root', {}), reclaim('a', given)]).toEqual(['Enforce', 'DryRun', '']);
  });

  test('without an object for the root its children are at the top', () => {
    expect(treeOf(['b', ''], ['a', ''], ['c', 'b'])).toEqual(['a', 'b', '  c']);
  });

  test('queues in a cycle and below an unknown parent are shown, each once', () => {
    expect(treeOf(['x', 'y'], ['y', 'x'], ['z', 'gone'])).toEqual(['z', 'x', '  y']);
  });

  test('the bars of siblings have one scale, the longest among them', () => {
    expect(named('research')?.resources).toEqual([
      {
        name: 'cpu',
        guaranteed: { text: '4', ratio: 0.4 },
        deserved: { text: '8', ratio: 0.8 },
        used: { text: '5', ratio: 0.5 },
        pending: { text: '3', ratio: 0.3 },
        max: { text: '10', ratio: 1 },
      },
    ]);
    expect(named('web')?.resources[0]?.used).toEqual({ text: '6', ratio: 0.6 });
  });

  test('ReclaimBlocked is trouble while it is true, any other type while it is false', () => {
    const troubles = queues.flatMap(({ name, conditions }) =>
      conditions.filter(({ isTrouble }) => isTrouble).map(({ type }) => [name, type]),
    );
    expect(troubles).toEqual([
      ['research', 'ReclaimBlocked'],
      ['web', 'SettingsEffective'],
    ]);
  });

  test('what cannot be read is left out', () => {
    const odd = {
      metadata: { name: 'odd' },
      spec: { weight: 'x', max: [1] },
      status: { used: { cpu: 'much' }, conditions: 1 },
    };
    expect(queueTree([queueEntry(odd)])).toMatchObject([{ name: 'odd', weight: 1, waitingPods: 0, conditions: [] }]);
  });
});

test('redactQueues: pods and budgets of other namespaces have no name, amounts stay', () => {
  const shown = redactQueues(queues, (namespace) => namespace === 'team-1');
  const text = JSON.stringify(shown);
  expect(text).not.toMatch(/team-[02]|thumbnails|train\b/);
  expect(text).toContain('team-1/report');
  expect(shown.map(({ resources }) => resources)).toEqual(queues.map(({ resources }) => resources));
});
