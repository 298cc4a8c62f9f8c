import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { SeenPod } from '#shared/domain/quota/view/seen-pod.ts';
import { amountsOf, selectorOf, PLAIN_QUOTA } from '#test/build/cluster.ts';

export const NAMES = ['pods', 'memory'];
const HIGH = { className: 'high', priority: 10 };

export function pod(uid: string, revision: number, more: Partial<SeenPod> = {}): SeenPod {
  const amounts = amountsOf({ pods: '1', memory: '1Gi' });
  return { uid, namespace: 'a', name: uid, revision, generation: 0, level: HIGH, amounts, ...more };
}

export function quota(more: Partial<PriorityQuota> = {}): PriorityQuota {
  return {
    name: 'q',
    namespaces: prepareSelector(selectorOf({})),
    scope: { kind: 'classes', names: new Set(['high']) },
    hard: amountsOf({ pods: '10', memory: '8Gi' }),
    ...PLAIN_QUOTA,
    ...more,
  };
}
