import { QUOTA_LABEL } from '#shared/kube/admission/judged-namespaces.ts';
import { describe, expect, test } from 'vitest';
import { breaksQuotaRequiredRule } from '#shared/domain/admission/rules/room-rules.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { buildPolicy, buildRequest, buildWorld, type WorldFields } from '#test/build/admission.ts';
import { amountsOf, selectorOf, PLAIN_QUOTA } from '#test/build/cluster.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';

const HIGH = { priorityClassName: 'high', priority: 1_000 };
const TENANT = { tenant: 'yes' };
const ENFORCED = { ...TENANT, 'plimsoll.dev/priority-quota': 'enforced' };
const UNCOVERED = { policy: 'tenants', priorityClassName: 'high', namespace: 'team-a' };
const REFUSAL = MESSAGES.quotaRequired.text(UNCOVERED);
const NOT_IN_FORCE = MESSAGES.quotaLabelRequired.text({ ...UNCOVERED, label: QUOTA_LABEL });

function priorityQuota(hard: Record<string, string> = { pods: '9' }, className = 'high'): PriorityQuota {
  const scope = { kind: 'classes', names: new Set([className]) } as const;
  return {
    name: 'wide',
    namespaces: prepareSelector(selectorOf(TENANT)),
    scope,
    hard: amountsOf(hard),
    ...PLAIN_QUOTA,
  };
}

function resourceQuota(more: Partial<ResourceQuota> = {}): ResourceQuota {
  const scopes = [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }];
  return { namespace: 'team-a', name: 'own', scopes, hard: amountsOf({ pods: '9' }), used: new Map(), ...more };
}

describe('a class that needs a quota', () => {
  test.each<[what: string, cluster: WorldFields, text: string | undefined]>([
    ['has none', { labels: ENFORCED }, REFUSAL],
    ['has a PriorityQuota in force', { labels: ENFORCED, priorityQuotas: [priorityQuota()] }, undefined],
    ['has one without the label', { labels: TENANT, priorityQuotas: [priorityQuota()] }, NOT_IN_FORCE],
    [
      'has one where the label says something else',
      { labels: { ...TENANT, 'plimsoll.dev/priority-quota': 'true' }, priorityQuotas: [priorityQuota()] },
      NOT_IN_FORCE,
    ],
    [
      'has one in an ignored namespace',
      { labels: { ...ENFORCED, 'plimsoll.dev/ignore': 'true' }, priorityQuotas: [priorityQuota()] },
      NOT_IN_FORCE,
    ],
    [
      'has one in an exempt namespace',
      { labels: { ...ENFORCED, 'kubernetes.io/metadata.name': 'kube-public' }, priorityQuotas: [priorityQuota()] },
      NOT_IN_FORCE,
    ],
    [
      'has one for other namespaces',
      { labels: { 'plimsoll.dev/priority-quota': 'enforced' }, priorityQuotas: [priorityQuota()] },
      REFUSAL,
    ],
    ['has one for another class', { labels: ENFORCED, priorityQuotas: [priorityQuota({ pods: '9' }, 'low')] }, REFUSAL],
    ['has one that counts no pods', { labels: ENFORCED, priorityQuotas: [priorityQuota({ services: '9' })] }, REFUSAL],
    ['has a ResourceQuota of the class', { labels: ENFORCED, quotas: [resourceQuota()] }, undefined],
    ['has a ResourceQuota of the class without the label', { labels: TENANT, quotas: [resourceQuota()] }, NOT_IN_FORCE],
    [
      'has one for pods of another QoS class only',
      {
        labels: ENFORCED,
        quotas: [
          resourceQuota({
            scopes: [...resourceQuota().scopes, { scopeName: 'NotBestEffort', operator: 'Exists', values: [] }],
          }),
        ],
      },
      REFUSAL,
    ],
    [
      'has one that counts no pods of its own',
      { labels: ENFORCED, quotas: [resourceQuota({ hard: amountsOf({ services: '9' }) })] },
      REFUSAL,
    ],
    ['has one that no class is in', { labels: ENFORCED, quotas: [resourceQuota({ scopes: [] })] }, REFUSAL],
  ])('%s', (_, cluster, text) => {
    const policy = buildPolicy('tenants', { requireQuotaFor: ['high'] });
    expect(breaksQuotaRequiredRule(buildRequest(HIGH), policy, buildWorld(cluster))?.text).toBe(text);
  });
});
