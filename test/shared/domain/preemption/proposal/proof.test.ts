import { describe, expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { reviewProposal } from '#shared/domain/preemption/proposal/review-proposal.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { buildNode, buildPod, type PodFields } from '#test/build/cluster.ts';
import { ENDING, half, review, RULES, STAYS, type Case } from './review-case.ts';
import { one } from '#test/shared/domain/preemption/one-pod.ts';

/** A pod that ends in time, and is large enough for the incoming one. */
const SOON = one('p', { ...ENDING, priority: 5 });
const CLAIM = { name: 'data', source: 'persistentVolumeClaim', emptyDirMedium: '', emptyDirSizeLimit: undefined };
const MAP = { ...CLAIM, source: 'configMap' };

describe('a proposal whose reason the model does not know', () => {
  const free = { requests: { cpu: '100m' } };

  test.each<[string, Case, unknown]>([
    [
      'stays where the pod would fit beside the victim',
      { pods: [one('p', free), one('q', free)], proposed: ['q'] },
      ['kept', ['q'], 0],
    ],
    [
      'loses the node to a protected victim, and no other pod goes',
      { pods: [one('p', free), one('q', { ...free, ...STAYS })], proposed: ['q'] },
      'ProtectedOptOut',
    ],
    [
      'does so where the pod would not fit without the victim either',
      { pods: [one('p'), half('q', { ...STAYS }), half('r')], proposed: ['q'] },
      'ProtectedOptOut',
    ],
    [
      'and where one of the victims would not have to go',
      {
        pods: [one('p', { priority: 5, requests: { cpu: '900m' } }), one('q', STAYS), one('r', free)],
        proposed: ['q', 'r'],
      },
      'ProtectedOptOut',
    ],
    [
      'waits for no terminating pod',
      { pods: [one('p', { ...ENDING, priority: 5, requests: { cpu: '900m' } }), one('q', free)], proposed: ['q'] },
      ['kept', ['q'], 0],
    ],
    [
      'chooses no pod that uses more than it requests',
      {
        pods: [one('p', free), one('q', free)],
        proposed: ['q'],
        rules: { usageAware: true, tieBreak: 'qos' },
        pressure: { isEnforced: true, observedAt: 0, overRequest: new Set(['uid-p']) },
      },
      ['kept', ['q'], 0],
    ],
  ])('%s', (_, situation, expected) => {
    expect(review(situation)).toEqual([expected]);
  });

  test.each<[string, Partial<PodFields>]>([
    ['a volume that is bound', { spec: { volumes: [CLAIM] } }],
    ['a dynamic resource claim', { spec: { resourceClaims: ['gpu'] } }],
    ['a resource that no node advertises', { requests: { cpu: '1', 'example.com/gpu': '1' } }],
  ])('of a pod with %s: none is put in the place of one with such a need, and none waits', (_, fields) => {
    const incoming = { priority: 10, requests: { cpu: '1' }, ...fields };
    const needing = { ...STAYS, ...fields };
    expect(review({ pods: [one('p', { priority: 5 }), one('q', needing)], proposed: ['q'], incoming })).toEqual([
      'ProtectedOptOut',
    ]);
    const beside = [one('p', { priority: 5 }), half('q', STAYS), half('r', fields)];
    expect(review({ pods: beside, proposed: ['q', 'r'], incoming })).toEqual(['ProtectedOptOut']);
    expect(review({ pods: [SOON, one('q')], proposed: ['q'], incoming })).toEqual([['kept', ['q'], 0]]);
  });

  test.each<[string, Partial<PodFields>]>([
    ['a volume that is bound', { spec: { volumes: [CLAIM] } }],
    ['a dynamic resource claim', { spec: { resourceClaims: ['gpu'] } }],
  ])(
    'of a pod with %s: another goes for a protected victim without one, since the need is met either way',
    (_, fields) => {
      const incoming = { priority: 10, requests: { cpu: '1' }, ...fields };
      const proposed = ['q'];
      const verdict = ['changed', ['p'], 0];
      expect(review({ pods: [one('p', { priority: 5 }), one('q', STAYS)], proposed, incoming })).toEqual([verdict]);
      // Also one with a need of its own may go.
      const pods = [one('p', { priority: 5, ...fields }), one('q', STAYS)];
      expect(review({ pods, proposed, incoming })).toEqual([verdict]);
    },
  );

  test('a volume that only the kubelet looks at changes nothing', () => {
    const incoming = { priority: 10, requests: { cpu: '1' }, spec: { volumes: [MAP] } };
    expect(review({ pods: [SOON, one('q')], proposed: ['q'], incoming })).toEqual([['changed', ['p'], 0]]);
  });
});

describe('the place of a protected victim', () => {
  test.each<[string, Case, unknown]>([
    [
      'is taken in addition to the other victims',
      {
        pods: [half('p', { priority: 5 }), half('q', { priority: 4 }), half('r'), half('s', STAYS)],
        proposed: ['r', 's'],
      },
      ['changed', ['q', 'r'], 0],
    ],
    [
      'is taken by one pod where that makes the other victims unnecessary',
      { pods: [one('p', { priority: 5 }), half('r', { priority: 1 }), half('s', STAYS)], proposed: ['r', 's'] },
      ['changed', ['p'], 0],
    ],
    [
      'is not taken by a pod that is terminating for an hour',
      {
        pods: [one('p', { priority: 5, deletion: { at: 3_600_000, gracePeriodSeconds: 3_600 } }), one('q', STAYS)],
        proposed: ['q'],
      },
      'ProtectedOptOut',
    ],
  ])('%s', (_, situation, expected) => {
    expect(review(situation)).toEqual([expected]);
  });
});

describe('which node waits (pickOneNodeForPreemption sees only what is named)', () => {
  const GRACE = (terminationGracePeriodSeconds: number) => ({ spec: { terminationGracePeriodSeconds } });
  const soonOn = (node: string, priority: number) => one(`soon-${node}`, { ...ENDING, node, priority });
  const victimOn = (node: string, fields: Partial<PodFields> = {}) => one(`victim-${node}`, { node, ...fields });
  const fillerOn = (node: string) => one(`filler-${node}`, { node, priority: 10 });

  /** The victims by node, of one proposed pod on each node. */
  function reviewed(pods: readonly PodFields[], waitedFor = () => 0): Readonly<Record<string, string>> {
    const built: readonly Pod[] = pods.map(buildPod);
    const names = [...new Set(built.map(({ spec }) => spec.nodeName ?? ''))];
    const nodes = names.map((name) => buildNode({ name, allocatable: { cpu: '2', memory: '4Gi' } }));
    const victims = built.filter(({ name }) => name.startsWith('victim-'));
    const proposal = victims.map(({ uid, spec }) => ({ node: spec.nodeName ?? '', uids: [uid], budgetViolations: 0 }));
    const pod = buildPod({ name: 'incoming', priority: 10, requests: { cpu: '1' } });
    const verdicts = reviewProposal(
      createSnapshot({ nodes, pods: built }),
      { pod, proposal, now: 0, waitedFor },
      RULES,
    );
    return Object.fromEntries(
      verdicts.map((verdict) =>
        verdict.kind === 'removed'
          ? [verdict.node, verdict.because.code]
          : [verdict.victims.node, verdict.victims.uids.join(' ')],
      ),
    );
  }

  test('a terminating pod makes its node neither dearer nor cheaper: only that node is left', () => {
    for (const priority of [1, 8])
      expect(
        reviewed([soonOn('n0', priority), victimOn('n0'), fillerOn('n1'), victimOn('n1', { priority: 6 })]),
      ).toEqual({
        n0: 'uid-soon-n0',
        n1: 'RoomSoonElsewhere',
      });
  });

  test('of several such nodes kube-scheduler chooses', () => {
    expect(reviewed([soonOn('n0', 5), victimOn('n0'), soonOn('n1', 1), victimOn('n1')])).toEqual({
      n0: 'uid-soon-n0',
      n1: 'uid-soon-n1',
    });
  });

  test('no pod waits longer than the preemption that kube-scheduler would choose takes', () => {
    const there = [fillerOn('n1'), victimOn('n1', { priority: -1, ...GRACE(1) })];
    expect(reviewed([soonOn('n0', 5), victimOn('n0'), ...there])).toEqual({
      n0: 'uid-victim-n0',
      n1: 'uid-victim-n1',
    });
    const dearer = [fillerOn('n1'), victimOn('n1', { priority: 6, ...GRACE(1) })];
    expect(reviewed([soonOn('n0', 5), victimOn('n0'), ...dearer])).toMatchObject({ n0: 'uid-soon-n0' });
  });

  test('nor a second time', () => {
    const pods = [soonOn('n0', 5), victimOn('n0')];
    expect(reviewed(pods, () => 60_000)).toEqual({ n0: 'uid-soon-n0' });
    expect(reviewed(pods, () => 60_001)).toEqual({ n0: 'uid-victim-n0' });
  });

  test('a protected victim waits for room that comes', () => {
    expect(reviewed([soonOn('n0', 5), victimOn('n0', STAYS)])).toEqual({ n0: 'uid-soon-n0' });
  });
});
