import type { Declaration } from '#tools/reach/reached-from.ts';
import { answer as answerEpisode } from './kinds/episodes.ts';
import { answer as answerEvictable } from './kinds/evictable.ts';
import { answer as answerKubeletPreemption } from './kinds/kubelet-preemption.ts';
import { answer as answerPodUsage } from './kinds/podusage.ts';
import { answer as answerPreemption } from './kinds/preemption.ts';
import { answer as answerPriority } from './kinds/priority.ts';
import { answer as answerPriorityClass } from './kinds/priorityclass.ts';
import { answer as answerQos } from './kinds/qos.ts';
import { answer as answerQuantity } from './kinds/quantity.ts';
import { answer as answerQuantityArithmetic } from './kinds/quantity-arith.ts';
import { answer as answerQueueDeserved } from './kinds/queue-deserved.ts';
import { answer as answerQueuePreemption } from './kinds/queue-preemption.ts';
import { answer as answerQuotaCheck } from './kinds/quotacheck.ts';
import { answer as answerQuotaScope } from './kinds/quotascope.ts';
import { answer as answerRanking } from './kinds/ranking.ts';
import { answer as answerRequests } from './kinds/requests.ts';
import { answer as answerThresholds } from './kinds/thresholds.ts';

/** The processes that are installed in a cluster. */
export type Process = 'webhook' | 'agent' | 'scheduler';

/** How the cases of one kind are answered, and which of their fields are answers. */
export interface Answering {
  answer(vector: unknown): unknown;
  readonly answerFields: readonly string[];
}

/** A kind, and where the product, or else kubelet/, decides the same (`same-functions.test.ts`). */
export interface Kind extends Answering {
  /** The function that decides, as `FILE#NAME`. */
  readonly decision: Declaration;
  /** The processes that run it; the scheduler some only for the what-if page of its dashboard. */
  readonly runBy: readonly Process[];
  /** What the answer takes from shared/ or kubelet/ in addition to it, or instead, and no process runs. */
  readonly notRun?: readonly string[];
}

const QUANTITY_ANSWERS = [
  'ok',
  'error',
  'format',
  'canonical',
  'recomputed',
  'value',
  'goValue',
  'milli',
  'goMilli',
  'cmpZero',
  'wireOk',
  'wireCanonical',
];

const PREEMPTION: Kind = {
  answer: answerPreemption,
  answerFields: ['want', 'alsoWant'],
  decision: 'shared/domain/placement/plan/plan-preemption.ts#planPreemption',
  runBy: ['scheduler'],
};

/** Every kind that `npm run evaluate` knows. */
export const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  [
    'quantity',
    {
      answer: answerQuantity,
      answerFields: QUANTITY_ANSWERS,
      decision: 'shared/domain/quantity/parse-quantity.ts#parseQuantity',
      runBy: ['webhook', 'agent', 'scheduler'],
    },
  ],
  [
    'quantity-arith',
    {
      answer: answerQuantityArithmetic,
      answerFields: ['cmp', 'sum', 'sub'],
      decision: 'shared/domain/quantity/quantity.ts#addQuantities',
      runBy: ['webhook', 'agent', 'scheduler'],
    },
  ],
  [
    'priority',
    {
      answer: answerPriority,
      answerFields: ['want'],
      decision: 'shared/domain/priority/classes-and-policies.ts#resolvePriority',
      runBy: ['webhook', 'scheduler'],
      notRun: ['keepPriority'],
    },
  ],
  [
    'priorityclass',
    {
      answer: answerPriorityClass,
      answerFields: ['want'],
      decision: 'sandbox/api-server/admission/validate-class.ts#validateNewClass',
      runBy: [],
      notRun: ['validateChangedClass', 'validateNewClass'],
    },
  ],
  [
    'podusage',
    {
      answer: answerPodUsage,
      answerFields: ['usage'],
      decision: 'shared/domain/quota/charge.ts#charge',
      runBy: ['webhook'],
    },
  ],
  [
    'quotascope',
    {
      answer: answerQuotaScope,
      answerFields: ['matches', 'error'],
      decision: 'shared/domain/quota/resource-quota/resource-quota.ts#matchesQuota',
      runBy: ['webhook'],
    },
  ],
  [
    'quotacheck',
    {
      answer: answerQuotaCheck,
      answerFields: ['want'],
      decision: 'shared/domain/quota/resource-quota/check-quotas.ts#checkQuotas',
      runBy: ['webhook'],
      notRun: ['decodeLimitedResource'],
    },
  ],
  [
    'qos',
    {
      answer: answerQos,
      answerFields: ['qos', 'reported'],
      decision: 'shared/domain/pod/pod-requests.ts#reportedQosClass',
      runBy: ['webhook', 'agent', 'scheduler'],
    },
  ],
  [
    'requests',
    {
      answer: answerRequests,
      answerFields: ['requests', 'limits'],
      decision: 'shared/domain/pod/pod-requests.ts#podRequests',
      runBy: ['webhook', 'agent', 'scheduler'],
    },
  ],
  [
    'ranking',
    {
      answer: answerRanking,
      answerFields: ['want'],
      decision: 'shared/domain/ranking/rank-pods.ts#rankPods',
      runBy: ['agent', 'scheduler'],
      notRun: ['decodePodStats', 'diskLayout'],
    },
  ],
  [
    'evictable',
    {
      answer: answerEvictable,
      answerFields: ['critical', 'static', 'mirror'],
      decision: 'shared/domain/eviction/protection.ts#isMirrorPod',
      runBy: ['webhook', 'agent', 'scheduler'],
      notRun: ['isCriticalPod'],
    },
  ],
  [
    'thresholds',
    {
      answer: answerThresholds,
      answerFields: ['ok', 'errors', 'want'],
      decision: 'shared/domain/pressure/parse-thresholds.ts#parseThresholds',
      runBy: ['webhook', 'agent', 'scheduler'],
    },
  ],
  [
    'episodes',
    {
      answer: answerEpisode,
      answerFields: ['steps.want'],
      decision: 'test/conformance/kubelet/kubelet-pass.ts#kubeletPass',
      runBy: [],
      notRun: ['KUBELET_START', 'diskLayout', 'kubeletPass'],
    },
  ],
  ['preemption', PREEMPTION],
  ['preemption-fit', PREEMPTION],
  ['preemption-full', PREEMPTION],
  [
    'kubelet-preemption',
    {
      answer: answerKubeletPreemption,
      answerFields: ['want', 'error'],
      decision: 'test/conformance/kubelet/kubelet-preemption.ts#kubeletPreemption',
      runBy: [],
      notRun: ['kubeletPreemption'],
    },
  ],
  [
    'queue-deserved',
    {
      answer: answerQueueDeserved,
      answerFields: ['want', 'fair', 'mark'],
      decision: 'shared/domain/queue/shares.ts#createShares',
      runBy: ['scheduler'],
    },
  ],
  [
    'queue-preemption',
    {
      answer: answerQueuePreemption,
      answerFields: ['want', 'peers', 'flavour'],
      decision: 'shared/domain/queue/reclaim.ts#decideReclaim',
      runBy: [],
      notRun: ['decideReclaim'],
    },
  ],
]);
