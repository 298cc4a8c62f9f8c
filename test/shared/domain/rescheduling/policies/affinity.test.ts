import { describe, expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { NO_MEMORY } from '#shared/domain/rescheduling/memory.ts';
import { NO_MEASUREMENTS, readCluster } from '#shared/domain/rescheduling/pass-cluster.ts';
import { affinityCandidates } from '#shared/domain/rescheduling/policies/affinity.ts';
import type { PolicyInput } from '#shared/domain/rescheduling/policies/move-candidate.ts';
import { type AffinityPolicy, RESTRAINTS } from '#shared/domain/rescheduling/policy.ts';
import { isMovable, runningPod } from '#shared/domain/rescheduling/running-pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { removePod } from '#shared/domain/snapshot/snapshot-pods.ts';
import { buildNode, buildSpread, buildTerm, mapOf, selectorOf } from '#test/build/cluster.ts';
import { AFFINITY, codeOf, MOVE_RULES, movesOf, NOON, passOn, replica, UNDERUSED } from '#test/build/rescheduling.ts';

const SIZE = { cpu: '10', memory: '20Gi' };
const A = buildNode({ name: 'a', allocatable: SIZE, labels: { zone: 'x' } });
const B = buildNode({ name: 'b', allocatable: SIZE, labels: { zone: 'y' } });
const IN_Y = { matchExpressions: [{ key: 'zone', operator: 'In', values: ['y'] }], matchFields: [] };

const RULES = {
  required: { nodeSelector: mapOf({ zone: 'y' }) },
  preferred: { preferredNodeTerms: [{ weight: 50, term: IN_Y }] },
  spread: { topologySpread: [buildSpread('zone', { labelSelector: selectorOf({ app: 'web' }) })] },
} as const;
type Rule = keyof typeof RULES;

function webs(rule: Rule, count = 3): readonly Pod[] {
  const scheduling = RULES[rule];
  return Array.from({ length: count }, (_, n) => replica({ name: `web${n}`, node: 'a', scheduling }));
}

describe('a policy for rules', () => {
  test.each<Rule>(['required', 'preferred', 'spread'])('mends what is %s if it is asked to', (rule) => {
    const only = { required: false, preferred: false, spread: false, [rule]: true };
    const none = { required: true, preferred: true, spread: true, [rule]: false };
    const moves = (affinity: typeof only) =>
      movesOf(passOn({ nodes: [A, B], pods: webs(rule), policy: { ...AFFINITY, affinity } }));
    expect(moves(only)).toEqual(['web0 a>b']);
    expect(moves(none)).toEqual([]);
  });

  test.each<Rule>(['required', 'preferred', 'spread'])('that is off mends nothing that is %s (S3-44)', (rule) => {
    const policy = { ...UNDERUSED, affinity: undefined };
    expect(movesOf(passOn({ nodes: [A, B], pods: webs(rule), policy }))).toEqual([]);
  });

  test.each<Rule>(['required', 'preferred', 'spread'])(
    'leaves a pod without a controller that lacks what is %s',
    (rule) => {
      const pods = webs(rule).map((pod, n) => (n === 0 ? { ...pod, owners: [] } : pod));
      expect(movesOf(passOn({ nodes: [A, B], pods, policy: AFFINITY }))).not.toContain('web0 a>b');
    },
  );

  test('leaves the last ready pod of an owner', () => {
    const result = passOn({ nodes: [A, B], pods: webs('required', 1), policy: AFFINITY });
    expect(movesOf(result)).toEqual([]);
    expect(codeOf(result, 'web0')).toBe('LastReadyReplica');
  });

  // 65 % and three tenths of the rest are 75.5 %.
  test.each([
    ['takes room above the target', '6500m', ['web0 a>b'], undefined],
    ['does not take more than three tenths of that room', '7', [], 'TargetOverloaded'],
  ])('a preference %s', (_, cpu, moves, code) => {
    const policy = { ...AFFINITY, underused: UNDERUSED.underused };
    const filler = replica({ name: 'filler', node: 'b', owner: 'filler', requests: { cpu, memory: '1Gi' } });
    const result = passOn({ nodes: [A, B], pods: [...webs('preferred'), filler], policy, most: 1 });
    expect(movesOf(result)).toEqual(moves);
    if (code !== undefined) expect(codeOf(result, 'web0')).toBe(code);
  });

  test('a broken rule is mended before a preference is met, and both before loads are evened', () => {
    const policy = { ...AFFINITY, underused: UNDERUSED.underused };
    const broken = replica({ name: 'broken', node: 'a', owner: 'db', scheduling: RULES.required });
    const other = replica({ name: 'other', node: 'b', owner: 'db' });
    const plain = Array.from({ length: 4 }, (_, n) => replica({ name: `plain${n}`, node: 'a', owner: `o${n % 2}` }));
    const result = passOn({ nodes: [A, B], pods: [...plain, ...webs('preferred'), broken, other], policy });
    expect(result.moves.map(({ policy: kind, pod }) => `${kind} ${pod.placed.pod.name}`)).toEqual([
      'affinity broken',
      'affinity web0',
    ]);
  });

  test('proposes nothing for a pod whose rule is kept again by the time it is served', () => {
    const apart = { podAntiAffinity: [buildTerm({ app: 'db' })] };
    const pods = [
      replica({ name: 'web0', node: 'a', scheduling: apart }),
      replica({ name: 'db', node: 'a', owner: 'db' }),
    ];
    const snapshot = createSnapshot({ nodes: [A, B], pods });
    const input = inputOn(snapshot);
    const groups = () => finish(affinityCandidates(input, AFFINITY.affinity as AffinityPolicy));
    const [group] = groups();
    expect(groups()[0]?.candidates()).toHaveLength(1);
    removePod(snapshot, pods[1] as Pod);
    expect(group?.candidates()).toEqual([]);
  });
});

/** What a pass asks the policy with. */
function inputOn(snapshot: ClusterSnapshot): PolicyInput {
  const cluster = finish(readCluster(snapshot, NO_MEASUREMENTS, { now: NOON, isSelected: () => true }));
  return {
    cluster,
    policy: AFFINITY,
    rules: MOVE_RULES,
    restraint: RESTRAINTS.High,
    memory: NO_MEMORY,
    movable: (placed, node) => runningPod(cluster, [placed, node], MOVE_RULES),
    isMovable: (placed, node) => isMovable(cluster, [placed, node], MOVE_RULES),
  };
}
