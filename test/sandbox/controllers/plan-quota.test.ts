import { describe, expect, test } from 'vitest';
import { planQuota } from '#sandbox/controllers/plan-quota.ts';
import { NOW, statusIn } from './build.ts';

describe('planQuota', () => {
  const quota = {
    metadata: { name: 'critical', namespace: 'team-a' },
    spec: {
      hard: { 'requests.memory': '1Gi', pods: '2' },
      scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['critical'] }] },
    },
  };
  const asking = (name: string, priorityClassName: string, namespace = 'team-a') => ({
    metadata: { name, namespace, uid: name },
    spec: { priorityClassName, containers: [{ name: 'main', resources: { requests: { memory: '256Mi' } } }] },
    status: { phase: 'Running' },
  });

  test('counts the pods of its namespace and classes', () => {
    const pods = [
      asking('a', 'critical'),
      asking('b', 'critical'),
      asking('c', 'batch'),
      asking('d', 'critical', 'team-b'),
    ];
    expect(statusIn(planQuota(quota, pods, NOW))).toEqual({
      hard: quota.spec.hard,
      used: { 'requests.memory': '512Mi', pods: '2' },
    });
  });

  test('says zero for an unused quota', () => {
    expect(statusIn(planQuota(quota, [], NOW))).toMatchObject({ used: { 'requests.memory': '0', pods: '0' } });
  });
});
