import type { ApiDouble } from '#test/fakes/api-double.ts';
import { CLASSES, NAMESPACES, QUOTAS } from '#test/webhook/support/webhook-process.ts';
import type { BadInput } from './bad-input.ts';
import { EVICTION_INPUTS } from './eviction-inputs.ts';
import { POD_INPUTS } from './pod-inputs.ts';
import { QUANTITY_INPUTS } from './quantity-inputs.ts';
import { REVIEW_INPUTS } from './review-inputs.ts';

/** Every bad input that reaches the webhook and is one request. */
export const BAD_INPUTS: readonly BadInput[] = [
  ...REVIEW_INPUTS,
  ...POD_INPUTS,
  ...QUANTITY_INPUTS,
  ...EVICTION_INPUTS,
];

function priorityClass(name: string, value: number, more: object = {}) {
  return { metadata: { name }, value, preemptionPolicy: 'PreemptLowerPriority', ...more };
}

/** The cluster that the bad inputs are about: two default classes, a quota for class `high`, one pod. */
export function prepareCluster(api: ApiDouble): void {
  api.put(NAMESPACES, { metadata: { name: 'team-a' } });
  api.put(CLASSES, priorityClass('standard', 100, { globalDefault: true }));
  api.put(CLASSES, priorityClass('other-default', 500, { globalDefault: true }));
  api.put(CLASSES, priorityClass('high', 1_000));
  api.put(CLASSES, priorityClass('patient', 50, { preemptionPolicy: 'Never' }));
  api.put(CLASSES, priorityClass('highest', 1_000_000_000));
  api.put(CLASSES, priorityClass('lowest', -(2 ** 31)));
  api.put(QUOTAS, {
    metadata: { name: 'high-tier', namespace: 'team-a' },
    spec: { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] } },
    status: { hard: { 'requests.memory': '1Ti' }, used: { 'requests.memory': '1Gi' } },
  });
  const spec = { nodeName: 'node-a' };
  api.put('/api/v1/pods', { metadata: { name: 'web', namespace: 'team-a', uid: 'uid-of-web' }, spec });
}
