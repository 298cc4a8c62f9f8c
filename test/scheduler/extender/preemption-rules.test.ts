import { describe, expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { putPod } from '#shared/domain/snapshot/snapshot-pods.ts';
import { sheetOf } from '#shared/domain/snapshot/node-entry.ts';
import type { AnnotatedClass } from '#shared/domain/priority/classes-and-policies.ts';
import { createStore } from '#shared/kube/reflector/reflector.ts';
import { preemptionRules } from '#scheduler/extender/preemption-rules.ts';
import { buildNode, buildPod } from '#test/build/cluster.ts';
import { loopsAfter } from '#test/scheduler/preemptions/loops-after.ts';

const RULES = { budgets: 'BestEffort', usageAware: false, tieBreak: 'none' } as const;

function classesOf() {
  const slim = ({ metadata }: { metadata: { annotations?: object } }) =>
    ({ annotations: new Map(Object.entries(metadata.annotations ?? {})) }) as unknown as AnnotatedClass;
  return createStore<AnnotatedClass>({ slim, onError: (error) => expect.unreachable(String(error)) });
}

const [a, b] = ['a', 'b'].map((name) => buildPod({ name })) as [Pod, Pod];

describe('protection', () => {
  test.each<[string, ReturnType<typeof loopsAfter>, Pod, string | undefined]>([
    ['is refused where it would continue a loop', loopsAfter(3), a, 'PreemptionLoop'],
    ['is allowed before the last round', loopsAfter(2), a, undefined],
    ['is allowed in a dry run', loopsAfter(3, 'DryRun'), a, undefined],
    ['is allowed to any other pod', loopsAfter(3), buildPod({ name: 'c' }), undefined],
    [
      'is allowed to a pod of system priority',
      loopsAfter(3),
      { ...a, spec: { ...a.spec, priority: 2_000_000_000 } },
      undefined,
    ],
  ])('a preemption %s', (_, loops, preemptor, code) => {
    expect(preemptionRules(RULES, { classes: classesOf(), loops }).protection(b, preemptor)?.code).toBe(code);
  });
});

test('a loop counts before an opt-out, which can give way to a DaemonSet (S2-29)', () => {
  const classes = classesOf();
  classes.set({ metadata: { name: 'batch', annotations: { 'plimsoll.dev/allow-preemption': 'false' } } });
  const { protection } = preemptionRules(RULES, { classes, loops: loopsAfter(3) });
  const victim = { ...b, spec: { ...b.spec, priorityClassName: 'batch' } };
  expect(protection(victim, a)?.code).toBe('PreemptionLoop');
  expect(protection(victim, buildPod({ name: 'c' }))?.code).toBe('ProtectedOptOut');
});

function opened() {
  const nodes = [buildNode({ name: 'n0', allocatable: { cpu: '4', memory: '4Gi' } })];
  const pods = [buildPod({ name: 'web', node: 'n0', spec: { priorityClassName: 'batch' } })];
  const snapshot = createSnapshot({ nodes, pods });
  const classes = classesOf();
  const rules = preemptionRules(RULES, { classes, loops: loopsAfter(0) });
  const holdsProtected = () => {
    const entry = snapshot.nodes.get('n0');
    return entry && rules.holdsProtected?.(sheetOf(entry));
  };
  return { snapshot, classes, holdsProtected };
}

describe('holdsProtected', () => {
  test('follows the classes of the pods', () => {
    const { classes, holdsProtected } = opened();
    expect(holdsProtected()).toBe(false);
    classes.set({ metadata: { name: 'batch', annotations: { 'plimsoll.dev/allow-preemption': 'false' } } });
    expect(holdsProtected()).toBe(true);
    classes.set({ metadata: { name: 'batch' } });
    expect(holdsProtected()).toBe(false);
  });

  test('is true of every node while there is a loop', () => {
    const { snapshot } = opened();
    const rules = preemptionRules(RULES, { classes: classesOf(), loops: loopsAfter(3) });
    const entry = snapshot.nodes.get('n0');
    expect(entry && rules.holdsProtected?.(sheetOf(entry))).toBe(true);
  });

  test('follows the pods of the node', () => {
    const { snapshot, holdsProtected } = opened();
    expect(holdsProtected()).toBe(false);
    putPod(snapshot, buildPod({ name: 'dns', namespace: 'kube-system', node: 'n0' }));
    expect(holdsProtected()).toBe(true);
  });

  test('counts a pod of system priority in a protected namespace, which others may not preempt', () => {
    const { snapshot, holdsProtected } = opened();
    putPod(snapshot, buildPod({ name: 'dns', namespace: 'kube-system', node: 'n0', priority: 2_000_000_000 }));
    expect(holdsProtected()).toBe(true);
  });
});
