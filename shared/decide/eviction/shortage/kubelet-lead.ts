import type { Because } from '#shared/domain/base/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { NodeSnapshot } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';
import type { Severity } from '#shared/decide/eviction/history/inflight-eviction.ts';
import { type CurrentShortage, KUBELET_PERIOD_MS, USUAL_KUBELET_THRESHOLD } from './passing-shortages.ts';

/** Whether the kubelet is short of memory by thresholds of its own that are higher than those of the policy. */
export interface KubeletLead {
  /** Its condition MemoryPressure in the last pass; `undefined` before the first. */
  readonly hadPressure: boolean | undefined;
  /** When a threshold of the policy was last crossed. */
  readonly crossedAt: Instant;
  /** Since when it has been short of memory by its own thresholds alone. */
  readonly since: Instant | undefined;
}

export const NO_LEAD: KubeletLead = { hadPressure: undefined, crossedAt: -Infinity, since: undefined };

/** The kubelet posts its conditions so late; what was crossed in this time may be what it reports. */
const POSTED_MS = 30_000;
/** Its soft thresholds have grace periods of minutes; one that does nothing for longer does not lead. */
const MAX_LEAD_MS = 300_000;

/** What is known after one more pass. A condition that was true when the agent started says nothing about thresholds. */
export function advanceKubeletLead(
  previous: KubeletLead,
  { hasMemoryPressure, now }: Pick<NodeSnapshot, 'hasMemoryPressure' | 'now'>,
  isCrossed: boolean,
): KubeletLead {
  const crossedAt = isCrossed ? now : previous.crossedAt;
  if (!hasMemoryPressure) return { hadPressure: false, crossedAt, since: undefined };
  const isFirst = previous.hadPressure === false && now - crossedAt >= POSTED_MS;
  return { hadPressure: true, crossedAt, since: isFirst ? now : previous.since };
}

/**
 * Why no pod is evicted while the kubelet leads: it evicts by its own thresholds whatever the agent frees below them, and
 * the pod that the agent evicted, or gave a longer grace period, is missing then, so that the next one goes. Below a hard
 * threshold one look of the kubelet is awaited, if more is left than its usual hard threshold.
 */
export function kubeletLeadGate(
  stage: Severity,
  { since }: KubeletLead,
  { current, now }: { readonly current: CurrentShortage | undefined; readonly now: Instant },
): Because | undefined {
  if (since === undefined || now - since >= MAX_LEAD_MS) return undefined;
  if (stage === 'severe' && !awaitsLook(current, now)) return undefined;
  return REASONS.kubeletLeads({}, { sinceSeconds: Math.floor((now - since) / 1000) });
}

function awaitsLook(current: CurrentShortage | undefined, now: Instant): boolean {
  if (current === undefined) return false;
  return now - current.since < KUBELET_PERIOD_MS && current.lowest >= USUAL_KUBELET_THRESHOLD;
}
