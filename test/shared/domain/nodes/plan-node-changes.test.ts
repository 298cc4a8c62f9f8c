import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type TaintLimits,
  type TaintPolicy,
  type NodePlan,
  planNodeChanges,
  type ConditionStatus,
  type ControlledNode,
  FAMILIES,
  type Family,
  type PressureReport,
} from '#shared/domain/nodes/plan-node-changes.ts';

const NOW = Date.UTC(2026, 0, 1);
const SECOND = 1000;
const LIMITS: TaintLimits & Pick<TaintPolicy, 'mostTaintedShare'> = {
  families: ['Memory', 'Io'],
  transitionMs: 60 * SECOND,
  unknownMs: 600 * SECOND,
  mostTaintedShare: 1 / 3,
};

interface Reported {
  readonly status?: ConditionStatus;
  readonly forSeconds?: number;
  readonly mode?: PressureReport['mode'];
  readonly silentSeconds?: number;
  readonly isFresh?: boolean;
}

function report(name: string, { status, forSeconds = 0, mode = 'Enforce', ...more }: Reported): PressureReport {
  const { silentSeconds = 1, isFresh = true } = more;
  const memory = status && { status, since: NOW - forSeconds * SECOND };
  const conditions = new Map(memory === undefined ? [] : [['Memory', memory] as const]);
  return { name, mode, observedAt: NOW - silentSeconds * SECOND, isFresh, conditions };
}

function node(name: string, taintedForSeconds?: number | 'ever', status?: ConditionStatus): ControlledNode {
  const at = taintedForSeconds === 'ever' ? undefined : NOW - (taintedForSeconds ?? 0) * SECOND;
  const taints = new Map<Family, number | undefined>(taintedForSeconds === undefined ? [] : [['Memory', at]]);
  return { name, taints, conditions: new Map(status === undefined ? [] : [['Memory', status]]) };
}

function plan(
  nodes: readonly ControlledNode[],
  reports: readonly PressureReport[],
  limits: Partial<typeof LIMITS> = {},
): NodePlan {
  const { mostTaintedShare, ...each } = { ...LIMITS, ...limits };
  const byName = new Map(reports.map((report) => [report.name, report]));
  return planNodeChanges(nodes, byName, { of: () => each, mostTaintedShare }, NOW);
}

/** What is planned for node `a`, as `kind` or `condition=status`, with the code of each taint. */
function shortly({ changes }: NodePlan): readonly string[] {
  return changes.map((change) =>
    change.kind === 'condition' ? `condition=${change.status}` : `${change.kind} ${change.because.code}`,
  );
}

describe('planNodeChanges', () => {
  test.each<[string, ControlledNode, Reported | undefined, readonly string[]]>([
    ['pressure taints', node('a'), { status: 'True' }, ['taint Pressure', 'condition=True']],
    [
      'an agent in DryRun shows a condition and no taint',
      node('a'),
      { status: 'True', mode: 'DryRun' },
      ['condition=True'],
    ],
    [
      'a taint goes when the agent turns to DryRun',
      node('a', 5, 'True'),
      { status: 'True', mode: 'DryRun' },
      ['untaint AgentDryRun'],
    ],
    ['pressure that goes on changes nothing', node('a', 5, 'True'), { status: 'True' }, []],
    ['a taint outlives the pressure', node('a', 99, 'True'), { status: 'False', forSeconds: 59 }, ['condition=False']],
    [
      'and goes after the transition period',
      node('a', 99, 'False'),
      { status: 'False', forSeconds: 60 },
      ['untaint PressureEnded'],
    ],
    [
      'a stale report is unknown: the taint stays',
      node('a', 900, 'True'),
      { status: 'True', isFresh: false, silentSeconds: 599 },
      ['condition=Unknown'],
    ],
    [
      'for a bounded time',
      node('a', 900, 'Unknown'),
      { status: 'True', isFresh: false, silentSeconds: 600 },
      ['untaint UnknownTooLong'],
    ],
    [
      'a report from an hour ahead is unknown, also where it says that there is no pressure: the taint stays',
      node('a', 599, 'True'),
      { status: 'False', isFresh: false, silentSeconds: -3_600 },
      ['condition=Unknown'],
    ],
    [
      'until the bounded time after it was added',
      node('a', 600, 'Unknown'),
      { status: 'True', isFresh: false, silentSeconds: -3_600 },
      ['untaint UnknownTooLong'],
    ],
    [
      'a pressure that ends in the future has no usable end: the taint stays',
      node('a', 59, 'False'),
      { status: 'False', forSeconds: -3_600 },
      [],
    ],
    [
      'until the transition period after it was added',
      node('a', 60, 'False'),
      { status: 'False', forSeconds: -3_600 },
      ['untaint PressureEnded'],
    ],
    ['a clock that is a minute ahead is usable', node('a', 99, 'False'), { status: 'False', forSeconds: -60 }, []],
    [
      'a taint that was added in the future is one without a time',
      node('a', -3_600, 'False'),
      { status: 'False', forSeconds: -3_600 },
      ['untaint PressureEnded'],
    ],
    ['also without a report', node('a', -3_600, 'True'), undefined, ['untaint Unreported', 'condition=undefined']],
    ['a stale report of pressure adds no taint', node('a'), { status: 'True', isFresh: false }, []],
    ['a resource that is no longer measured is unknown', node('a', 5, 'True'), {}, ['condition=Unknown']],
    ['without a report the taint stays', node('a', 599, 'True'), undefined, ['condition=Unknown']],
    [
      'for a bounded time, and the condition goes with it',
      node('a', 600, 'Unknown'),
      undefined,
      ['untaint Unreported', 'condition=undefined'],
    ],
    [
      'a taint without a time goes at once',
      node('a', 'ever', 'True'),
      undefined,
      ['untaint Unreported', 'condition=undefined'],
    ],
    ['a node without an agent is left alone', node('a'), undefined, []],
  ])('%s', (_, present, reported, expected) => {
    expect(shortly(plan([present], reported === undefined ? [] : [report('a', reported)]))).toEqual(expected);
  });

  test('a resource that the configuration no longer names loses taint and condition', () => {
    const planned = plan([node('a', 5, 'True')], [report('a', { status: 'True' })], { families: ['Io'] });
    expect(shortly(planned)).toEqual(['untaint NotShown', 'condition=undefined']);
  });

  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const pressedFor = (seconds: readonly number[]) =>
    names.map((name, index) => report(name, { status: 'True', forSeconds: seconds[index] ?? 0 }));

  test('a third of the nodes, those longest under pressure', () => {
    const planned = plan(
      names.map((name) => node(name)),
      pressedFor([1, 2, 3, 4, 5, 6]),
    );
    expect(planned.changes.filter(({ kind }) => kind === 'taint').map((change) => change.node)).toEqual(['e', 'f']);
    expect(planned.heldBack).toEqual(['d', 'c', 'b', 'a']);
  });

  test('taints that are there keep their place', () => {
    const nodes = names.map((name) => node(name, name < 'c' ? 9 : undefined));
    const planned = plan(nodes, pressedFor([1, 2, 3, 4, 5, 6]));
    expect(planned.changes.filter(({ kind }) => kind !== 'condition')).toEqual([]);
    expect(planned.heldBack).toHaveLength(4);
  });

  test('a removed taint makes place in the same pass', () => {
    const nodes = [node('a', 99), node('b', 99), ...['c', 'd', 'e', 'f'].map((name) => node(name))];
    const reports = [report('a', { status: 'False', forSeconds: 60 }), ...pressedFor([0, 9, 0, 0, 0, 7]).slice(1)];
    const planned = plan(nodes, reports).changes.filter(({ kind }) => kind !== 'condition');
    expect(planned.map((change) => [change.kind, change.node])).toEqual([
      ['untaint', 'a'],
      ['taint', 'f'],
    ]);
  });
});

const reported = fc.record({
  status: fc.constantFrom<ConditionStatus>('True', 'False', 'Unknown'),
  forSeconds: fc.nat(700),
  mode: fc.constantFrom('DryRun' as const, 'Enforce' as const),
  silentSeconds: fc.nat(700),
  isFresh: fc.boolean(),
});
const clusters = fc.uniqueArray(
  fc.record({
    name: fc.stringMatching(/^[a-z]{1,3}$/),
    taintedForSeconds: fc.option(fc.oneof(fc.nat(700), fc.constant('ever' as const)), { nil: undefined }),
    status: fc.option(fc.constantFrom<ConditionStatus>('True', 'False', 'Unknown'), { nil: undefined }),
    reported: fc.option(reported, { nil: undefined }),
  }),
  { maxLength: 20, selector: ({ name }) => name },
);

describe('laws of planNodeChanges', () => {
  const laws = { seed: 15, numRuns: 300 };
  type Cluster = typeof clusters extends fc.Arbitrary<infer T> ? T : never;
  const nodesOf = (cluster: Cluster) => cluster.map((each) => node(each.name, each.taintedForSeconds, each.status));
  const reportsOf = (cluster: Cluster) =>
    cluster.flatMap((each) => (each.reported === undefined ? [] : [report(each.name, each.reported)]));

  function carriedOut(nodes: readonly ControlledNode[], { changes }: NodePlan): readonly ControlledNode[] {
    return nodes.map((each) => {
      const taints = new Map(each.taints);
      const conditions = new Map(each.conditions);
      for (const change of changes.filter((other) => other.node === each.name)) {
        if (change.kind !== 'condition') {
          if (change.kind === 'taint') taints.set(change.family, NOW);
          else taints.delete(change.family);
        } else if (change.status === undefined) conditions.delete(change.family);
        else conditions.set(change.family, change.status);
      }
      return { ...each, taints, conditions };
    });
  }

  test('a plan that is carried out leaves nothing to do', () => {
    fc.assert(
      fc.property(clusters, (cluster) => {
        const nodes = carriedOut(nodesOf(cluster), plan(nodesOf(cluster), reportsOf(cluster)));
        expect(plan(nodes, reportsOf(cluster)).changes).toEqual([]);
      }),
      laws,
    );
  });

  test('no plan taints more than the cap, a node without fresh pressure, or one in DryRun', () => {
    fc.assert(
      fc.property(clusters, (cluster) => {
        const nodes = nodesOf(cluster);
        const planned = plan(nodes, reportsOf(cluster));
        const added = planned.changes.filter(({ kind }) => kind === 'taint').map((change) => change.node);
        const taintedAfter = carriedOut(nodes, planned).filter(({ taints }) => taints.size > 0).length;
        if (added.length > 0) expect(taintedAfter).toBeLessThanOrEqual(Math.max(1, Math.floor(nodes.length / 3)));
        const pressed = cluster.filter(({ reported: seen }) => seen?.isFresh === true && seen.status === 'True');
        const allowed = pressed.filter(({ reported: seen }) => seen?.mode === 'Enforce').map(({ name }) => name);
        expect(allowed).toEqual(expect.arrayContaining(added));
      }),
      laws,
    );
  });

  test('every change names its node and resource', () => {
    fc.assert(
      fc.property(clusters, (cluster) => {
        for (const { because, family } of plan(nodesOf(cluster), reportsOf(cluster)).changes) {
          expect(FAMILIES).toContain(family);
          expect(because.facts['family']).toBe(family);
        }
      }),
      laws,
    );
  });
});
