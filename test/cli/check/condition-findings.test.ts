import { expect, test } from 'vitest';
import { checkCluster } from '#cli/check/check-cluster.ts';
import { TAKEN_AT } from '#test/cli/node-pressures.ts';
import { manifestsOf } from '#test/cli/vector-cluster.ts';

const NOW = Date.parse(TAKEN_AT);

function withCondition(kind: string, name: string, condition: object, observedAt = TAKEN_AT): object {
  return {
    apiVersion: 'plimsoll.dev/v1alpha1',
    kind,
    metadata: { name },
    spec: {},
    status: { observedAt, conditions: [condition] },
  };
}

function found(...objects: readonly object[]) {
  const findings = checkCluster({ manifests: manifestsOf(objects), now: NOW, namespace: 'default' }, '1.0.0');
  return findings.filter(({ text }) => / is (?:True|False) \(/.test(text));
}

const told = (type: string, status: string) => ({ type, status, reason: 'Why', message: 'because of this' });

test.each([
  ['Queue', 'SettingsEffective'],
  ['Queue', 'GuaranteesCovered'],
  ['PriorityQuota', 'PodsReadable'],
  ['PriorityRules', 'Current'],
  ['NodePressure', 'PoliciesRead'],
  ['NodePressure', 'PodsMeasured'],
])('a %s whose condition %s is False is found', (kind, type) => {
  expect(found(withCondition(kind, 'one', told(type, 'True')))).toEqual([]);
  expect(found(withCondition(kind, 'one', told(type, 'False')))).toEqual([
    {
      level: 'Warning',
      subject: `${kind} one`,
      text: `${type} is False (Why): because of this`,
      next: `kubectl describe ${kind.toLowerCase()} one`,
    },
  ]);
});

test.each([
  ['PriorityPolicy', 'Conflicting'],
  ['Queue', 'NodesDoubted'],
  ['DisruptionPolicy', 'ForbiddingBudgets'],
])('a %s whose condition %s is True is found, and one whose is False is not', (kind, type) => {
  const policy = (status: string) => withCondition(kind, 'one', told(type, status));
  expect(found(policy('True')).map(({ text }) => text)).toEqual([`${type} is True (Why): because of this`]);
  expect(found(policy('False'))).toEqual([]);
});

test('what several objects say alike is one finding', () => {
  const nodes = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) =>
    withCondition('NodePressure', name, told('PoliciesRead', 'False')),
  );
  expect(found(...nodes).map(({ subject }) => subject)).toEqual(['NodePressure a, b, c, d, e and 2 more objects']);
});

test('a node that does not report is found once, not by its old conditions', () => {
  const silent = withCondition('NodePressure', 'n', told('PoliciesRead', 'False'), '2026-01-01T11:00:00Z');
  expect(found(silent)).toEqual([]);
});

test('a shortage is no finding: it is what the agent is there for', () => {
  expect(found(withCondition('NodePressure', 'n', told('Memory', 'True')))).toEqual([]);
});
