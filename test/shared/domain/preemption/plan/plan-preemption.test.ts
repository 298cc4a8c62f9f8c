import { describe, expect, test } from 'vitest';
import { examineNodes } from '#shared/domain/preemption/trial/examine-nodes.ts';
import { prefilter } from '#shared/domain/preemption/trial/prefilter-state.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { NodeSelectorTerm, PodCondition } from '#shared/domain/pod/pod.ts';
import { planPreemption, type PreemptionOptions } from '#shared/domain/preemption/plan/plan-preemption.ts';
import { buildBudget, buildNode, buildPod, buildTerm, type NodeFields, type PodFields } from '#test/build/cluster.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/disruption-budget.ts';

interface Situation {
  readonly nodes?: readonly NodeFields[];
  readonly pods?: readonly PodFields[];
  readonly budgets?: readonly DisruptionBudget[];
  readonly options?: PreemptionOptions;
}

const SMALL = { cpu: '2', memory: '4Gi' };
const NODES = [{ name: 'n0', allocatable: SMALL }];

function snapshotOf({ nodes = NODES, pods = [], budgets = [] }: Situation) {
  return createSnapshot({ nodes: nodes.map(buildNode), pods: pods.map(buildPod), budgets });
}

function plan(pod: Partial<PodFields>, situation: Situation = {}) {
  const incoming = buildPod({ name: 'incoming', priority: 10, requests: { cpu: '2' }, ...pod });
  return planPreemption(snapshotOf(situation), incoming, situation.options);
}

/** Victims by node, or why there are none. */
function victims(pod: Partial<PodFields>, situation: Situation): object | string {
  const found = plan(pod, situation);
  if (found.kind !== 'preempt') return found.kind;
  return Object.fromEntries(found.candidates.map((each) => [each.node, each.victims.map((victim) => victim.pod.name)]));
}

const one = (name: string, fields: Partial<PodFields> = {}): PodFields => ({
  name,
  node: 'n0',
  priority: 0,
  requests: { cpu: '1' },
  ...fields,
});

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

describe('who may not preempt', () => {
  const condition = (fields: Partial<PodCondition>): PodCondition => ({
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'PreemptionByScheduler',
    ...fields,
  });
  const leaving = (...conditions: PodCondition[]): Situation => ({
    pods: [one('p', { deletion: { at: 0, gracePeriodSeconds: 30 }, conditions })],
  });
  const again = { nominatedTo: 'n0' };

  test.each<[string, Partial<PodFields>, Situation, string]>([
    ['a pod that never preempts', { spec: { preemptionPolicy: 'Never' } }, { pods: [one('p')] }, 'neverPreempts'],
    ['a pod whose victims are still leaving', again, leaving(condition({})), 'victimsStillTerminating'],
    ['only the first condition counts', again, leaving(condition({ status: 'False' }), condition({})), 'onlyCandidate'],
    ['victims of others do not count', again, leaving(condition({ reason: 'EvictionByEvictionAPI' })), 'onlyCandidate'],
    ['without a condition no pod is a victim', again, leaving(), 'onlyCandidate'],
    [
      'a condition without deletion does not count',
      again,
      { pods: [one('p', { conditions: [condition({})] })] },
      'onlyCandidate',
    ],
    ['a nominated node that is gone does not count', { nominatedTo: 'gone' }, leaving(condition({})), 'onlyCandidate'],
    [
      'a nominated node beyond help does not count',
      { nominatedTo: 'n0', requests: { cpu: '3' } },
      { ...leaving(condition({})), nodes: [...NODES, { name: 'n1', allocatable: { cpu: '1' } }] },
      'noCandidate',
    ],
  ])('%s', (_, pod, situation, code) => {
    expect(plan(pod, situation).because.code).toBe(code);
  });

  test('the text is that of Kubernetes', () => {
    const found = plan({ spec: { preemptionPolicy: 'Never' } }, { pods: [one('p')] });
    expect(found).toEqual({
      kind: 'notEligible',
      unschedulable: '0/1 nodes are available: 1 Insufficient cpu.',
      message: 'preemption: not eligible due to preemptionPolicy=Never.',
      because: { code: 'neverPreempts', text: 'not eligible due to preemptionPolicy=Never.', facts: {} },
    });
  });
});

describe('why it fits nowhere', () => {
  const named = (...values: string[]): NodeSelectorTerm => ({
    matchExpressions: [],
    matchFields: [{ key: 'metadata.name', operator: 'In', values }],
  });
  const nodes = [...NODES, { name: 'n1', isUnschedulable: true }, { name: 'n2', allocatable: { cpu: '1' } }];
  const full = [one('p'), one('q')];

  test.each<[string, Partial<PodFields>, Situation, string]>([
    [
      'each reason with its nodes',
      {},
      { nodes, pods: full },
      '0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.',
    ],
    ['no nodes at all', {}, { nodes: [] }, 'no nodes available to schedule pods'],
    [
      'nodes ruled out by name',
      { scheduling: { nodeAffinity: { terms: [named('n0')] } } },
      { nodes, pods: full },
      "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
    ],
    [
      'nodes ruled out after the nominated one was refused',
      { nominatedTo: 'n1', scheduling: { nodeAffinity: { terms: [named('n0')] } } },
      { nodes, pods: full },
      "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity NodeUnschedulable], 1 node(s) were unschedulable.",
    ],
    [
      'names that contradict each other',
      {
        scheduling: {
          nodeAffinity: {
            terms: [{ ...named('n0'), matchFields: [...named('n0').matchFields, ...named('n2').matchFields] }],
          },
        },
      },
      { nodes, pods: full },
      '0/3 nodes are available: pod affinity terms conflict.',
    ],
    [
      'a term without names rules nothing out',
      {
        scheduling: {
          nodeAffinity: {
            terms: [
              named('n0'),
              { matchExpressions: [{ key: 'disk', operator: 'Exists', values: [] }], matchFields: [] },
            ],
          },
        },
      },
      { nodes: NODES, pods: full },
      '0/1 nodes are available: 1 Insufficient cpu.',
    ],
  ])('%s', (_, pod, situation, text) => {
    const incoming = buildPod({ name: 'incoming', priority: 10, requests: { cpu: '2' }, ...pod });
    expect(examineNodes(prefilter(snapshotOf(situation), incoming))).toMatchObject({ text });
  });

  test('a nominated node that fits is taken before others are looked at', () => {
    const found = plan({ nominatedTo: 'n3' }, { nodes: [...NODES, { name: 'n3', allocatable: SMALL }] });
    expect(found).toMatchObject({ kind: 'fits', nodes: ['n3'] });
  });

  test('there is no text where it fits', () => {
    const examination = examineNodes(prefilter(snapshotOf({}), buildPod({ name: 'incoming' })));
    expect(examination.kind).toBe('fits');
    expect(examination).not.toHaveProperty('text');
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
