import { describe, expect, test } from 'vitest';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { type PriorityScope, reviewQuota } from '#shared/domain/quota/priority-quota.ts';
import { buildClass } from '#test/build/admission.ts';
import { amountsOf, selectorOf, PLAIN_QUOTA } from '#test/build/cluster.ts';

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
