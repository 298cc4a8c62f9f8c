import { describe, expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { classOutliers } from '#shared/domain/priority/class-outliers.ts';
import { buildPod } from '#test/build/cluster.ts';

const VALUES = [0, 10, 20, 30, 2_000_000_000];

function pod(name: string, priority: number, owner?: string, namespace = 'team'): Pod {
  const built = buildPod({ name, namespace, priority, spec: { priorityClassName: `class-${priority}` } });
  const isController = true;
  const owners =
    owner === undefined ? [] : [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, isController }];
  return { ...built, owners };
}

const usual = (priority: number): readonly Pod[] => ['a', 'b', 'c'].map((name) => pod(name, priority));

describe('classOutliers', () => {
  test('a workload two classes above the custom of its namespace is found (S1-23)', () => {
    expect(classOutliers([...usual(0), pod('x-1', 30, 'x'), pod('x-2', 30, 'x')], VALUES)).toEqual([
      { workload: 'team/ReplicaSet/x', className: 'class-30', usualClassName: 'class-0' },
    ]);
    expect(classOutliers([...usual(0), pod('x-1', 20, 'x'), pod('x-2', 20, 'x')], VALUES)).toEqual([]);
  });

  test('one pod of a workload with a higher class than the others of it is found', () => {
    const found = classOutliers([...usual(0), pod('x-1', 0, 'x'), pod('x-2', 30, 'x')], VALUES);
    expect(found.map(({ workload }) => workload)).toEqual(['team/ReplicaSet/x']);
  });

  test.each<[string, readonly Pod[]]>([
    ['the next classes are not far', [...usual(0), pod('x', 20)]],
    ['two neighbours show no custom', [...usual(0).slice(1), pod('x', 30)]],
    ['pods of other namespaces are no neighbours', [...usual(0), pod('x', 30, undefined, 'other')]],
    ['the system is no mistake', [...usual(0), pod('x', 2_000_000_000)]],
    ['where all are high none is', [...usual(30), pod('x', 30)]],
  ])('%s', (_, pods) => {
    expect(classOutliers(pods, VALUES)).toEqual([]);
  });
});
