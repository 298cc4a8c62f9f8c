import { HOUR_MS, MINUTE_MS } from '#shared/domain/base/durations.ts';
import { NO_SPARE, type SpareSettings } from '#shared/domain/spare/spare-settings.ts';
import type { AvoidPolicy } from './plan-avoidance.ts';
import type { TaintLimits } from './plan-node-changes.ts';

/** Whether what is planned for a node is written, only logged, or not planned at all. */
export type NodeMode = 'Disabled' | 'DryRun' | 'Enforce';

/** What an operator decides for the nodes of a policy: their avoid lists, taints, conditions and spare room. */
export interface NodeSettings {
  readonly avoidance: AvoidPolicy & { readonly mode: NodeMode };
  readonly taints: TaintLimits & { readonly mode: NodeMode };
  readonly spare: SpareSettings;
}

/** For a node without a policy, or with one that cannot be read: nothing is written. */
export const DEFAULT_NODE_SETTINGS: NodeSettings = {
  avoidance: {
    mode: 'DryRun',
    avoidForMs: 10 * MINUTE_MS,
    longestMs: HOUR_MS,
    loop: { rounds: 3, windowMs: HOUR_MS, isForbidding: false },
  },
  taints: { mode: 'DryRun', families: ['Memory', 'Cpu', 'Io'], transitionMs: MINUTE_MS, unknownMs: 10 * MINUTE_MS },
  spare: NO_SPARE,
};
