import { expect, test } from 'vitest';
import { classView, priorityQuotaView, resourceQuotaView } from '#dashboard/views/priorities.ts';

test('a class shows its description, whether it preempts, and whether it opted out of being preempted', () => {
  const annotations = { 'plimsoll.dev/allow-preemption': 'false' };
  const object = { metadata: { name: 'c', annotations }, value: 7, preemptionPolicy: 'Never', description: '<b>x</b>' };
  expect(classView(object)).toEqual({
    name: 'c',
    value: 7,
    isDefault: false,
    preempts: false,
    optedOut: true,
    description: '<b>x</b>',
  });
});

test('a PriorityQuota shows what its ledger counts against hard', () => {
  const spec = { priority: { min: 5 }, hard: { pods: 4, 'requests.memory': '2Gi', odd: {} } };
  const status = { used: { pods: '1', 'requests.memory': '512Mi' } };
  expect(priorityQuotaView({ metadata: { name: 'q' }, spec, status })).toMatchObject({
    name: 'q',
    scope: 'priority 5 to …',
    resources: [
      { name: 'odd', hard: '', usedRatio: undefined },
      { name: 'pods', used: '1', hard: '4', usedRatio: 0.25 },
      { name: 'requests.memory', used: '512Mi', hard: '2Gi', usedRatio: 0.25 },
    ],
  });
});

test('of ResourceQuotas only those that count classes are shown', () => {
  const term = { scopeName: 'PriorityClass', operator: 'In', values: ['critical', 'high'] };
  const quota = (scopeSelector: unknown) =>
    resourceQuotaView({ metadata: { name: 'q', namespace: 'team-a' }, spec: { hard: { pods: '0' }, scopeSelector } });
  expect(quota({ matchExpressions: [term] })).toMatchObject({ namespace: 'team-a', scope: 'critical, high' });
  expect(quota({ matchExpressions: [{ ...term, operator: 'Exists', values: undefined }] })).toMatchObject({
    scope: 'Exists',
  });
  expect([quota(undefined), quota({ matchExpressions: [{ scopeName: 'BestEffort' }] })]).toEqual([
    undefined,
    undefined,
  ]);
});
