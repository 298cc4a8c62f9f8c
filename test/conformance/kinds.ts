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
import { answer as answerQuotaCheck } from './kinds/quotacheck.ts';
import { answer as answerQuotaScope } from './kinds/quotascope.ts';
import { answer as answerRanking } from './kinds/ranking.ts';
import { answer as answerRequests } from './kinds/requests.ts';
import { answer as answerThresholds } from './kinds/thresholds.ts';

/** How the cases of one kind are answered, and which of their fields are answers. */
export interface Kind {
  answer(vector: unknown): unknown;
  readonly answerFields: readonly string[];
}

const QUANTITY_ANSWERS = [
  ...['ok', 'error', 'format', 'canonical', 'recomputed', 'value', 'goValue', 'milli', 'goMilli', 'cmpZero'],
  ...['wireOk', 'wireCanonical'],
];

/** Every kind that `npm run evaluate` knows. */
export const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['quantity', { answer: answerQuantity, answerFields: QUANTITY_ANSWERS }],
  ['quantity-arith', { answer: answerQuantityArithmetic, answerFields: ['cmp', 'sum', 'sub'] }],
  ['priority', { answer: answerPriority, answerFields: ['want'] }],
  ['priorityclass', { answer: answerPriorityClass, answerFields: ['want'] }],
  ['podusage', { answer: answerPodUsage, answerFields: ['usage'] }],
  ['quotascope', { answer: answerQuotaScope, answerFields: ['matches', 'error'] }],
  ['quotacheck', { answer: answerQuotaCheck, answerFields: ['want'] }],
  ['qos', { answer: answerQos, answerFields: ['qos', 'reported'] }],
  ['requests', { answer: answerRequests, answerFields: ['requests', 'limits'] }],
  ['ranking', { answer: answerRanking, answerFields: ['want'] }],
  ['evictable', { answer: answerEvictable, answerFields: ['critical', 'static', 'mirror'] }],
  ['thresholds', { answer: answerThresholds, answerFields: ['ok', 'errors', 'want'] }],
  ['episodes', { answer: answerEpisode, answerFields: ['steps.want'] }],
  ['preemption', { answer: answerPreemption, answerFields: ['want'] }],
  ['preemption-fit', { answer: answerPreemption, answerFields: ['want'] }],
  ['preemption-full', { answer: answerPreemption, answerFields: ['want'] }],
  ['kubelet-preemption', { answer: answerKubeletPreemption, answerFields: ['want', 'error'] }],
]);
