import { describe, expect, test } from 'vitest';
import type { DisruptionBudget } from '#shared/domain/snapshot/disruption-budget.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { ProposalRules } from '#shared/domain/preemption/proposal/proposal.ts';
import { reviewProposal } from '#shared/domain/preemption/proposal/review-proposal.ts';
import type { NodePressureFacts } from '#shared/domain/snapshot/node-pressure-facts.ts';
import { buildBudget, buildNode, buildPod, type PodFields } from '#test/build/cluster.ts';
import { buildPressure } from '#test/build/node-pressure.ts';

const OPTED_OUT = { code: 'ProtectedOptOut', text: 'the pod asked never to be evicted', facts: {} };
const RULES: ProposalRules = {
  protection: ({ labels }) => (labels.has('stay') ? OPTED_OUT : undefined),
  budgets: 'BestEffort',
  usageAware: false,
  tieBreak: 'none',
};
const STAYS = { labels: { stay: 'yes' } };

const one = (name: string, fields: Partial<PodFields> = {}): PodFields => ({
  name,
  node: 'n0',
  priority: 0,
  requests: { cpu: '1' },
  ...fields,
});

interface Case {
  readonly pods: readonly PodFields[];
  readonly proposed: readonly string[];
  readonly rules?: Partial<ProposalRules>;
  readonly budgets?: readonly DisruptionBudget[];
  readonly budgetViolations?: number;
  readonly pressure?: Partial<NodePressureFacts>;
  readonly now?: number;
}

/** Of one node with two CPUs, for a pod that needs one. */
function review({ pods, proposed, rules, budgets = [], budgetViolations = 0, pressure, now = 0 }: Case) {
  const nodes = [buildNode({ name: 'n0', allocatable: { cpu: '2', memory: '4Gi' } })];
  const built = pods.map(buildPod);
  const snapshot = createSnapshot({ nodes, pods: built, budgets });
  if (pressure !== undefined) snapshot.pressures.set('n0', buildPressure('n0', pressure));
  const names = new Map(built.map(({ uid, name }) => [uid, name]));
  const uids = proposed.map((name) => built.find((pod) => pod.name === name)?.uid ?? name);
  const incoming = buildPod({ name: 'incoming', priority: 10, requests: { cpu: '1' } });
  const proposal = [{ node: 'n0', uids, budgetViolations }];
  const verdicts = reviewProposal(snapshot, { pod: incoming, proposal, now }, { ...RULES, ...rules });
  return verdicts.map((verdict) =>
    verdict.kind === 'takenAway'
      ? verdict.because.code
      : [verdict.kind, verdict.victims.uids.map((uid) => names.get(uid)), verdict.victims.budgetViolations],
  );
}

describe('reviewProposal', () => {
  test.each<[string, Case, unknown]>([
    ['a node without protected victims stays', { pods: [one('p'), one('q')], proposed: ['q'] }, ['kept', ['q'], 0]],
    [
      'so does one whose victims we would not have chosen',
      { pods: [one('p', { priority: 5 }), one('q')], proposed: ['p'] },
      ['kept', ['p'], 0],
    ],
    [
      'another pod goes in the place of a protected one',
      { pods: [one('p', { priority: 5 }), one('q', STAYS)], proposed: ['q'] },
      ['changed', ['p'], 0],
    ],
    [
      'where there is none, the node is taken away',
      { pods: [one('p', { priority: 10 }), one('q', STAYS)], proposed: ['q'] },
      'ProtectedOptOut',
    ],
    ['a victim that is not known is none', { pods: [one('p'), one('q')], proposed: ['q', 'new'] }, 'UnknownVictims'],
    ['nor is an empty list an answer', { pods: [one('p')], proposed: [] }, 'UnknownVictims'],
    [
      'no pod goes where terminating pods make room',
      { pods: [one('p', { priority: 20, deletion: { at: 0, gracePeriodSeconds: 30 } }), one('q')], proposed: ['q'] },
      'RoomSoon',
    ],
    [
      'what is ending elsewhere, or is too little, changes nothing',
      {
        pods: [one('p'), one('q'), one('r', { requests: { cpu: '0' }, deletion: { at: 0, gracePeriodSeconds: 30 } })],
        proposed: ['q'],
      },
      ['kept', ['q'], 0],
    ],
    [
      'hard budgets take the node away',
      { pods: [one('p'), one('q')], proposed: ['q'], rules: { budgets: 'Hard' }, budgetViolations: 1 },
      'OverBudget',
    ],
    ['others do not', { pods: [one('p'), one('q')], proposed: ['q'], budgetViolations: 1 }, ['kept', ['q'], 1]],
    [
      'nor may a substitute break a hard budget',
      {
        pods: [one('p', { labels: { app: 'web' } }), one('q', STAYS)],
        proposed: ['q'],
        rules: { budgets: 'Hard' },
        budgets: [buildBudget('web', { app: 'web' }, 0)],
      },
      'OverBudget',
    ],
  ])('%s', (_, situation, expected) => {
    expect(review(situation)).toEqual([expected]);
  });
});

const ENDING = { deletion: { at: 30_000, gracePeriodSeconds: 30 } };
const half = (name: string, fields: Partial<PodFields> = {}) => one(name, { requests: { cpu: '500m' }, ...fields });
const four = ['p', 'q', 'r', 's'] as const;
const evicting = (...names: readonly string[]) => new Set(names.map((name) => `uid-${name}`));
const enforced = { isEnforced: true, observedAt: 0 };

describe('reviewProposal, on pods that leave by themselves', () => {
  const pods = (ending: Partial<PodFields>) => [half('p', ending), half('q'), half('r'), half('s')];

  test.each<[string, Case, unknown]>([
    [
      'only the victims stay that their room makes unnecessary',
      { pods: pods(ENDING), proposed: ['r', 's'] },
      ['changed', ['s'], 0],
    ],
    [
      'where their room is enough they are the victims, so that kube-scheduler keeps it for the pod',
      { pods: [half('p'), half('q', ENDING), half('r')], proposed: ['q', 'r'] },
      ['changed', ['q'], 0],
    ],
    [
      'also where kube-scheduler proposes others',
      { pods: [half('p', ENDING), half('q'), half('r')], proposed: ['q', 'r'] },
      ['changed', ['p'], 0],
    ],
    [
      'victims that are all terminating stay',
      { pods: [one('p', ENDING), one('q', ENDING)], proposed: ['p', 'q'], budgetViolations: 1 },
      ['kept', ['p', 'q'], 1],
    ],
    [
      'a protected pod that is terminating is not named',
      { pods: [half('p'), half('q', { ...ENDING, ...STAYS }), half('r')], proposed: ['r'] },
      'RoomSoon',
    ],
    [
      'a pod that should have ended a minute ago is not counted on',
      { pods: pods(ENDING), proposed: ['r', 's'], now: 90_001 },
      ['kept', ['r', 's'], 0],
    ],
    [
      'nor one that terminates later than its grace period allows: the clocks differ',
      { pods: pods(ENDING), proposed: ['r', 's'], now: -60_001 },
      ['kept', ['r', 's'], 0],
    ],
    ['by up to a minute they may', { pods: pods(ENDING), proposed: ['r', 's'], now: -60_000 }, ['changed', ['s'], 0]],
    ['until then it is', { pods: pods(ENDING), proposed: ['r', 's'], now: 90_000 }, ['changed', ['s'], 0]],
    [
      'a pod that the agent evicts leaves, too',
      { pods: pods({}), proposed: ['r', 's'], pressure: { ...enforced, evicting: evicting('p') } },
      ['changed', ['s'], 0],
    ],
    [
      'two that the agent evicts make all the room',
      { pods: pods({}), proposed: ['r', 's'], pressure: { ...enforced, evicting: evicting('p', 'q') } },
      'RoomSoon',
    ],
    [
      'in a dry run the agent evicts no pod',
      { pods: pods({}), proposed: ['r', 's'], pressure: { observedAt: 0, evicting: evicting('p', 'q') } },
      ['kept', ['r', 's'], 0],
    ],
    [
      'what an agent said long ago does not count',
      {
        pods: pods({}),
        proposed: ['r', 's'],
        pressure: { ...enforced, evicting: evicting('p', 'q') },
        now: 60_001,
      },
      ['kept', ['r', 's'], 0],
    ],
    [
      'a pod nominated with equal priority has taken the room',
      {
        pods: [...pods(ENDING), { name: 'first', nominatedTo: 'n0', priority: 10, requests: { cpu: '500m' } }],
        proposed: ['q', 'r', 's'],
      },
      ['changed', ['r', 's'], 0],
    ],
    [
      'a victim whose budget is used up is counted where it is needed',
      {
        pods: [half('p', ENDING), half('q'), half('r'), half('s', { labels: { app: 'web' } })],
        proposed: ['r', 's'],
        budgets: [buildBudget('web', { app: 'web' }, 0)],
        budgetViolations: 1,
      },
      ['changed', ['s'], 1],
    ],
  ])('%s', (_, situation, expected) => {
    expect(review(situation)).toEqual([expected]);
  });
});

describe('reviewProposal, on equal victims', () => {
  const usage = (...names: readonly string[]) => ({ ...enforced, overRequest: evicting(...names) });
  const pods = four.map((name, index) => half(name, { startedAt: index }));
  const aware = { usageAware: true };
  const amounts = { cpu: '500m', memory: '1Mi' };
  const guaranteed = (name: string) => one(name, { requests: amounts, limits: amounts });
  const byQos = { tieBreak: 'qos' } as const;

  test.each<[string, Case, unknown]>([
    [
      'those above their request go first',
      { pods, proposed: ['r', 's'], rules: aware, pressure: usage('p') },
      ['changed', ['s', 'p'], 0],
    ],
    ['but not unless that is asked for', { pods, proposed: ['r', 's'], pressure: usage('p') }, ['kept', ['r', 's'], 0]],
    [
      'nor by what was measured long ago',
      { pods, proposed: ['r', 's'], rules: aware, pressure: usage('p'), now: 60_001 },
      ['kept', ['r', 's'], 0],
    ],
    [
      'never a pod of higher priority',
      {
        pods: [half('p', { priority: 1 }), half('q'), half('r'), half('s')],
        proposed: ['r', 's'],
        rules: aware,
        pressure: usage('p'),
      },
      ['kept', ['r', 's'], 0],
    ],
    [
      'never a protected one',
      {
        pods: pods.map((pod) => (pod.name === 'p' ? { ...pod, ...STAYS } : pod)),
        proposed: ['r', 's'],
        rules: aware,
        pressure: usage('p'),
      },
      ['kept', ['r', 's'], 0],
    ],
    [
      'never more of them',
      { pods: [half('p'), half('q'), one('s')], proposed: ['s'], rules: aware, pressure: usage('p', 'q') },
      ['kept', ['s'], 0],
    ],
    [
      'by QoS class Burstable goes before Guaranteed',
      {
        pods: [half('p'), guaranteed('q'), guaranteed('r'), half('s')],
        proposed: ['r', 's'],
        rules: byQos,
      },
      ['changed', ['p', 's'], 0],
    ],
    [
      'QoS changes nothing by default',
      { pods: [half('p'), guaranteed('q'), half('r'), half('s')], proposed: ['r', 's'] },
      ['kept', ['r', 's'], 0],
    ],
  ])('%s', (_, situation, expected) => {
    expect(review(situation)).toEqual([expected]);
  });
});

describe('reviewProposal, on equal nodes', () => {
  /** A proposal of two nodes with one victim each. */
  function reviewTwo(second: Partial<PodFields>, pressures: readonly NodePressureFacts[], usageAware = true) {
    const nodes = ['n0', 'n1'].map((name) => buildNode({ name, allocatable: { cpu: '1' } }));
    const pods = [one('p', { node: 'n0', startedAt: 9 }), one('q', { node: 'n1', startedAt: 1, ...second })];
    const snapshot = createSnapshot({ nodes, pods: pods.map(buildPod) });
    for (const facts of pressures) snapshot.pressures.set(facts.node, facts);
    const pod = buildPod({ name: 'incoming', priority: 10, requests: { cpu: '1' } });
    const proposal = pods.map(({ name, node = '' }) => ({ node, uids: [`uid-${name}`], budgetViolations: 0 }));
    const verdicts = reviewProposal(snapshot, { pod, proposal, now: 0 }, { ...RULES, usageAware });
    return verdicts.map((verdict) => (verdict.kind === 'takenAway' ? verdict.because.code : verdict.kind));
  }
  const under = (node: string) => buildPressure(node, { observedAt: 0, pressure: 'Soft' });

  test('prefers the node that runs out of a resource', () => {
    expect(reviewTwo({}, [under('n1')])).toEqual(['PreferredElsewhere', 'kept']);
    expect(reviewTwo({}, [under('n0')])).toEqual(['kept', 'PreferredElsewhere']);
  });

  test('then the one whose victims use more than they request', () => {
    const pressures = [buildPressure('n1', { observedAt: 0, overRequest: new Set(['uid-q']) })];
    expect(reviewTwo({}, pressures)).toEqual(['PreferredElsewhere', 'kept']);
    expect(reviewTwo({}, [...pressures, under('n0')])).toEqual(['kept', 'PreferredElsewhere']);
  });

  test('leaves nodes that kube-scheduler does not hold equal', () => {
    expect(reviewTwo({ priority: 5 }, [under('n1')])).toEqual(['kept', 'kept']);
    expect(reviewTwo({ priority: 5 }, [under('n0')])).toEqual(['kept', 'kept']);
  });

  test('leaves all where they are equal in that, too, or usage does not count', () => {
    expect(reviewTwo({}, [])).toEqual(['kept', 'kept']);
    expect(reviewTwo({}, [under('n0'), under('n1')])).toEqual(['kept', 'kept']);
    expect(reviewTwo({}, [under('n1')], false)).toEqual(['kept', 'kept']);
  });
});
