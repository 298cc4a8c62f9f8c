import { decodeNodePressure } from '#shared/api/decode-node-pressure.ts';
import { isFresh, type NodePressure, type NodePressureStatus } from '#shared/api/node-pressure.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { PressureReport } from '#shared/domain/node-control/pressure-report.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';

/** A NodePressure reduced to the fields that the node controller reads; the others are most of its size. */
export function readKnownPressure(raw: KubeObject): NodePressure {
  const { status, ...pressure } = decodeNodePressure(raw);
  return { ...pressure, status: status && slim(status) };
}

const NO_REASON = { code: '', text: '', facts: {} };

function slim(status: NodePressureStatus): NodePressureStatus {
  const { conditions, evictions } = status;
  return {
    ...status,
    next: [],
    rules: undefined,
    conditions: conditions.map((condition) => ({ ...condition, reason: '', message: '' })),
    evictions: evictions.map((eviction) => ({ ...eviction, because: NO_REASON })),
  };
}

/** The report of one agent, as taints and conditions depend on it. */
export function reportOf({ name, status }: NodePressure, now: Instant): PressureReport {
  return {
    name,
    mode: status?.mode ?? 'DryRun',
    observedAt: status?.observedAt,
    isFresh: isFresh(status, now),
    conditions: new Map(
      status?.conditions.map((each) => [each.type, { status: each.status, since: each.lastTransitionTime }]),
    ),
  };
}
