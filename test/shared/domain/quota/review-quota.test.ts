import { describe, expect, test } from 'vitest';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { countsPod, type PriorityScope, reviewQuota } from '#shared/domain/quota/priority-quota.ts';
import { buildClass } from '#test/build/admission.ts';
import { amountsOf, buildPod, selectorOf, PLAIN_QUOTA } from '#test/build/cluster.ts';

const CLASSES = new Map([buildClass('high', 1_000), buildClass('low', 10)].map((each) => [each.name, each]));

function review(scope: PriorityScope, hard: Record<string, string> = { pods: '1' }): readonly string[] {
  return reviewQuota(
    { name: 'q', namespaces: prepareSelector(selectorOf({})), scope, hard: amountsOf(hard), ...PLAIN_QUOTA },
    CLASSES,
  );
}

describe('reviewQuota', () => {
  test.each<[string, PriorityScope, readonly string[]]>([
    ['nothing of classes that are there', { kind: 'classes', names: new Set(['high', 'low']) }, []],
    [
      'classes that are not',
      { kind: 'classes', names: new Set(['high', 'gone']) },
      ['priorityClassNames: there is no class `gone`'],
    ],
    ['nothing of a range with a class in it', { kind: 'range', min: 500, max: 1_000 }, []],
    ['nothing of a range with pods of no class in it', { kind: 'range', min: -5, max: 0 }, []],
    ['nothing of a range that starts with a class', { kind: 'range', min: 1_000, max: 2_000 }, []],
    ['nothing of a range that starts with pods of no class', { kind: 'range', min: 0, max: 5 }, []],
    [
      'a range just above pods of no class',
      { kind: 'range', min: 1, max: 5 },
      ['priority: there is no class from 1 to 5'],
    ],
    ['a range just below', { kind: 'range', min: -5, max: -1 }, ['priority: there is no class from -5 to -1']],
    ['a range without', { kind: 'range', min: 11, max: 999 }, ['priority: there is no class from 11 to 999']],
  ])('reports %s', (_, scope, says) => {
    expect(review(scope)).toEqual(says);
  });

  test('reports limits that no pod counts towards', () => {
    const hard = { pods: '1', 'requests.memory': '1Gi', 'count/pods': '5', services: '3', 'requests.storage': '1Gi' };
    expect(review({ kind: 'range', min: 0, max: 1 }, hard)).toEqual([
      'hard[services]: pods are not charged for this resource',
      'hard[requests.storage]: pods are not charged for this resource',
    ]);
  });
});

describe('countsPod', () => {
  const range = (min: number, max: number): PriorityScope => ({ kind: 'range', min, max });

  test.each<[string, PriorityScope, number | undefined, boolean]>([
    ['a pod without a priority as one of 0', range(0, 0), undefined, true],
    ['no pod without a priority above', range(1, 9), undefined, false],
    ['the first of a range', range(5, 9), 5, true],
    ['the last of a range', range(5, 9), 9, true],
    ['none below', range(5, 9), 4, false],
    ['none above', range(5, 9), 10, false],
    ['no pod without a class among classes', { kind: 'classes', names: new Set(['high']) }, 5, false],
  ])('counts %s', (_, scope, priority, expected) => {
    const pod = buildPod({ name: 'p', ...(priority !== undefined && { priority }) });
    expect(countsPod(scope, pod)).toBe(expected);
  });
});
