import { describe, expect, test } from 'vitest';
import { buildBudget, buildTerm, type PodFields } from '#test/build/cluster.ts';
import { SMALL, plan, victims, type Situation } from './plan-situation.ts';
import { one } from '#test/shared/domain/preemption/one-pod.ts';

describe('whom it takes', () => {
  test.each<[string, Partial<PodFields>, Situation, object | string]>([
    ['no pod where the incoming one fits', { requests: { cpu: '1' } }, { pods: [one('p')] }, 'fits'],
    ['no pod of equal priority', {}, { pods: [one('p', { priority: 10 })] }, 'noCandidate'],
    ['no priority is 0', { priority: 1 }, { pods: [{ name: 'p', node: 'n0', requests: { cpu: '1' } }] }, { n0: ['p'] }],
    [
      'the less important of two',
      { requests: { cpu: '1' } },
      { pods: [one('p', { priority: 5 }), one('q')] },
      { n0: ['q'] },
    ],
    [
      'the later started of equals',
      { requests: { cpu: '1' } },
      { pods: [one('p', { startedAt: 9 }), one('q', { startedAt: 8 })] },
      { n0: ['p'] },
    ],
    ['the later arrived of full equals', { requests: { cpu: '1' } }, { pods: [one('p'), one('q')] }, { n0: ['q'] }],
    [
      'rather one without a budget than one with',
      { requests: { cpu: '1' } },
      {
        pods: [one('p', { labels: { app: 'a' } }), one('q', { priority: 5 })],
        budgets: [buildBudget('b', { app: 'a' }, 0)],
      },
      { n0: ['q'] },
    ],
    [
      'a budget counts pods that stay, too',
      { requests: { cpu: '1' } },
      {
        pods: [one('p', { labels: { app: 'a' }, priority: 5 }), one('q', { labels: { app: 'a' } })],
        budgets: [buildBudget('b', { app: 'a' }, 1)],
      },
      { n0: ['p'] },
    ],
    [
      'a pod whose disruption is already counted breaks no budget',
      { requests: { cpu: '1' } },
      {
        pods: [one('p', { labels: { app: 'a' } }), one('q', { priority: 5 })],
        budgets: [{ ...buildBudget('b', { app: 'a' }, 0), disruptedPods: new Set(['p']) }],
      },
      { n0: ['p'] },
    ],
    [
      'violators of equal importance are named first',
      {},
      {
        pods: [one('p'), one('q', { labels: { app: 'a' } })],
        budgets: [buildBudget('b', { app: 'a' }, 0)],
      },
      { n0: ['q', 'p'] },
    ],
    ['no pod that may not be taken', {}, { pods: [one('p')], options: { mayTake: () => false } }, 'noCandidate'],
    [
      'whom it may take, where that is enough',
      { requests: { cpu: '1' } },
      { pods: [one('p', { priority: 5 }), one('q')], options: { mayTake: ({ name }) => name === 'p' } },
      { n0: ['p'] },
    ],
    [
      'as many as it takes for a slot',
      { requests: {} },
      { nodes: [{ name: 'n0', allocatable: { pods: '1' } }], pods: [one('p', { requests: {} })] },
      { n0: ['p'] },
    ],
    [
      'no pod for room that others were promised',
      { requests: { cpu: '1' } },
      {
        pods: [
          one('p'),
          one('w', { nominatedTo: 'n0', priority: 10, requests: { cpu: '2' }, spec: { nodeName: undefined } }),
        ],
      },
      'noCandidate',
    ],
  ])('%s', (_, pod, situation, expected) => {
    expect(victims(pod, situation)).toEqual(expected);
  });
});

describe('amounts too large for doubles', () => {
  const memory = String(2n ** 60n);
  const nodes = [{ name: 'n0', allocatable: { memory } }];

  test('are added up exactly', () => {
    const pods = [one('q', { requests: { memory: String(2n ** 59n) } }), one('p', { requests: { memory: '1' } })];
    const rest = String(2n ** 59n - 1n);
    expect(victims({ requests: { memory: rest } }, { nodes, pods })).toBe('fits');
    expect(victims({ requests: { memory: String(2n ** 59n) } }, { nodes, pods })).toEqual({ n0: ['p'] });
  });
});

describe('because', () => {
  test('names the criterion that decided, and every node has its own', () => {
    const nodes = ['n0', 'n1', 'n2', 'n3', 'n4'].map((name) => ({ name, allocatable: SMALL }));
    const on = (node: string, name: string, fields: Partial<PodFields> = {}) =>
      one(name, { node, requests: { cpu: '2' }, ...fields });
    const found = plan(
      { scheduling: { podAntiAffinity: [buildTerm({ app: 'z' })] } },
      {
        nodes: [...nodes, { name: 'n5', isUnschedulable: true }],
        pods: [
          on('n0', 'p0', { priority: 5 }),
          on('n1', 'p1', { priority: 3 }),
          on('n2', 'p2', { priority: 10 }),
          on('n3', 'p3', { requests: { cpu: '1' } }),
          on('n3', 'q3', { priority: 10, labels: { app: 'z' } }),
          on('n4', 'p4', { labels: { app: 'a' } }),
        ],
        budgets: [buildBudget('b', { app: 'a' }, 0)],
        options: { budgets: 'Hard' },
      },
    );
    if (found.kind !== 'preempt') throw new Error(`expected a preemption, got ${found.kind}`);
    expect(found.because).toEqual({
      code: 'lowestTopPriority',
      text: 'n1 was chosen among 2 candidates: its most important victim has the lowest priority',
      facts: { node: 'n1', candidates: 2, rejected: 4, equals: 1 },
    });
    const victim = (name: string) => [{ pod: { name } }];
    expect([...found.candidates, ...found.rejected]).toMatchObject([
      { kind: 'candidate', node: 'n0', victims: victim('p0'), budgetViolations: 0, topPriority: 5 },
      { kind: 'candidate', node: 'n1', victims: victim('p1'), budgetViolations: 0, topPriority: 3 },
      { kind: 'noLowerPods', node: 'n2' },
      {
        kind: 'stillRefused',
        node: 'n3',
        refusal: { filter: 'NodeResourcesFit', reasons: ['Insufficient cpu'] },
        removed: 1,
      },
      { kind: 'overBudget', node: 'n4', budgetViolations: 1 },
      {
        kind: 'notTried',
        node: 'n5',
        refusal: { filter: 'NodeUnschedulable', reasons: ['node(s) were unschedulable'] },
      },
    ]);
  });

  test('a node that the pod does not ask for is not tried', () => {
    const terms = [{ matchExpressions: [], matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n9'] }] }];
    const found = plan({ scheduling: { nodeAffinity: { terms } } });
    expect(found).toMatchObject({
      kind: 'noCandidate',
      rejected: [{ kind: 'notTried', node: 'n0', refusal: undefined }],
    });
  });

  test('without a candidate it counts what the nodes said', () => {
    const nodes = ['n0', 'n1', 'n2'].map((name) => ({ name, allocatable: SMALL }));
    const pods = [one('p', { requests: { cpu: '2' }, labels: { app: 'a' } }), one('q', { node: 'n1', priority: 10 })];
    const budgets = [buildBudget('b', { app: 'a' }, 0)];
    const found = plan(
      {},
      { nodes: [...nodes.slice(0, 2), { name: 'n2' }], pods, budgets, options: { budgets: 'Hard' } },
    );
    expect(found).toMatchObject({
      kind: 'noCandidate',
      message:
        'preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, ' +
        '1 Preemption is not helpful for scheduling, 1 a disruption budget would be broken.',
    });
    expect(plan({}, { nodes: [] })).toMatchObject({ kind: 'noCandidate', message: 'preemption: no nodes available' });
  });

  test('where the pod fits it says on how many nodes', () => {
    expect(plan({}).because).toEqual({
      code: 'fits',
      text: 'the pod fits on 1 nodes as they are',
      facts: { nodes: 1 },
    });
  });
});
