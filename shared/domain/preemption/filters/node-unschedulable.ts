import type { Pod } from '#shared/domain/pod/pod.ts';
import type { NodeFilter } from './filter.ts';
import type { Refusal } from './refusal.ts';
import { toleratesTaint } from './taint-toleration.ts';

const CORDONED = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' };

const REFUSAL: Refusal = {
  filter: 'NodeUnschedulable',
  reasons: ['node(s) were unschedulable'],
  isResolvable: false,
};

/** A cordoned node takes only pods that tolerate the taint of cordoned nodes. `plugins/nodeunschedulable/node_unschedulable.go`. */
export function nodeUnschedulable(pod: Pod): NodeFilter {
  const isTolerant = toleratesTaint(pod.spec.scheduling.tolerations, CORDONED);
  return ({ node }) => (node.isUnschedulable && !isTolerant ? REFUSAL : undefined);
}
