import { describe, expect, test } from 'vitest';
import { planMode } from '#cli/mode/plan-mode.ts';

const NODES = [node('batch-1', 'batch'), node('batch-2', 'batch'), node('web-1', 'web')];

function node(name: string, pool: string) {
  return { name, labels: new Map([['pool', pool]]) };
}

function policy(name: string, spec: object) {
  return { metadata: { name, resourceVersion: '7' }, spec };
}

function forPool(pool: string, spec: object = {}) {
  return policy(pool, { nodeSelector: { matchLabels: { pool } }, ...spec });
}

function plan(mode: 'DryRun' | 'Enforce', selected: readonly string[], ...policies: ReturnType<typeof policy>[]) {
  return planMode({ mode, nodes: NODES, selected: new Set(selected), policies });
}

const BATCH = ['batch-1', 'batch-2'];

describe('planMode', () => {
  test('changes the policy in force on the selected nodes', () => {
    expect(plan('Enforce', BATCH, forPool('batch'), policy('all', { order: -1 }))).toEqual({
      changes: [
        {
          policy: 'batch',
          resourceVersion: '7',
          from: 'DryRun',
          to: 'Enforce',
          nodes: BATCH,
          spec: { mode: 'Enforce' },
          stillDryRun: [],
        },
      ],
      withoutPolicy: [],
      obstacles: [],
    });
  });

  test('of several policies in force, each', () => {
    const { changes } = plan('Enforce', ['batch-1', 'batch-2', 'web-1'], forPool('batch'), forPool('web'));
    expect(changes.map((each) => [each.policy, each.nodes])).toEqual([
      ['batch', BATCH],
      ['web', ['web-1']],
    ]);
  });

  test('a policy that is in force on another node is an obstacle', () => {
    const { obstacles } = plan('Enforce', BATCH, policy('all', {}));
    expect(obstacles.map(({ text }) => text)).toEqual([
      'NodePressurePolicy all also applies to nodes that are not selected: web-1',
    ]);
    expect(plan('Enforce', ['batch-1'], forPool('batch')).obstacles).toHaveLength(1);
  });

  test('a policy that selects another node where a higher order is in force is none', () => {
    const { changes, obstacles } = plan('Enforce', BATCH, policy('all', {}), forPool('web', { order: 1 }));
    expect({ policies: changes.map((each) => each.policy), obstacles }).toEqual({ policies: ['all'], obstacles: [] });
  });

  test('a policy that cannot be read is an obstacle, and is not changed', () => {
    const { changes, obstacles } = plan('DryRun', BATCH, forPool('batch', { evictionHard: { memory: 'x' } }));
    expect({ changes, texts: obstacles.map(({ text }) => text) }).toEqual({
      changes: [],
      texts: [expect.stringMatching(/^cannot read NodePressurePolicy batch: spec.evictionHard: /)],
    });
  });

  test('nodes without a policy are named', () => {
    expect(plan('Enforce', [...BATCH, 'web-1'], forPool('batch'))).toMatchObject({
      changes: [{ policy: 'batch' }],
      withoutPolicy: ['web-1'],
      obstacles: [],
    });
  });

  test('a policy that has the mode is left as it is', () => {
    const [change] = plan('Enforce', BATCH, forPool('batch', { mode: 'Enforce' })).changes;
    expect(change).toMatchObject({ from: 'Enforce', to: 'Enforce', spec: undefined });
  });

  test.each([
    ['Enforce', { mode: 'DryRun', cpu: { mode: 'DryRun' } }],
    ['DryRun', { mode: 'DryRun' }],
  ])('to DryRun where cpu.mode is %s', (cpuMode, spec) => {
    const [change] = plan('DryRun', BATCH, forPool('batch', { mode: 'Enforce', cpu: { mode: cpuMode } })).changes;
    expect(change?.spec).toEqual(spec);
  });

  test('thresholds that stay in DryRun are named', () => {
    const modes = { evictionHardMode: { 'memory.available': 'DryRun', 'nodefs.available': 'Enforce' } };
    const thresholds = { evictionHard: { 'memory.available': '200Mi', 'nodefs.available': '5%' } };
    const policies = forPool('batch', { ...thresholds, ...modes });
    expect(plan('Enforce', BATCH, policies).changes[0]?.stillDryRun).toEqual(['evictionHardMode.memory.available']);
    expect(plan('DryRun', BATCH, policies).changes[0]?.stillDryRun).toEqual([]);
  });
});
