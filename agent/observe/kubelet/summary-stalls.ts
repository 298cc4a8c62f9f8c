import type { Instant } from '#shared/domain/pod/pod.ts';
import { isRecord } from '#shared/kube/kube-object.ts';
import {
  NO_POD_PRESSURES,
  type PodPressure,
  type ResourceShares,
  type PodPressureByUid,
} from '#agent/decide/snapshot/pod-pressure.ts';
import type { StallRatio } from '#shared/api/node-pressure-policy/stall-rule.ts';

/** PSI from the kubelet's summary. */
export interface SummaryStalls {
  /** Of the node. */
  readonly ratios: readonly StallRatio[];
  /** Pressure of each pod; the summary has neither limit hits nor throttling. */
  readonly podPressures: PodPressureByUid;
}

export const NO_STALLS: SummaryStalls = { ratios: [], podPressures: NO_POD_PRESSURES };

const RESOURCES = ['memory', 'cpu', 'io'] as const;
const SHARES = ['some', 'full'] as const;
const WINDOWS = [
  ['avg10', 10_000],
  ['avg60', 60_000],
  ['avg300', 300_000],
] as const;
const PERCENT = 100;

type Share = (typeof SHARES)[number];

/**
 * Reads `{node,pods[]}.{memory,cpu,io}.psi` of a summary. The kernel's averages are used as they are: the kubelet reads
 * its counters about every ten seconds, too seldom to compute a ten-second window from them. Entries older than `since`
 * (wall time) are dropped. On cgroup v1 the kubelet writes zeros instead of omitting PSI; every live node has waited for
 * a CPU once, so if that total is 0, PSI of the node and of all pods is ignored.
 */
export function summaryStalls(raw: unknown, since: Instant): SummaryStalls {
  const node = field(raw, 'node');
  if (!hasWaitedForCpu(node)) return NO_STALLS;
  return {
    ratios: RESOURCES.flatMap((resource) => ratiosOf(resource, psiOf(node, resource, since))),
    podPressures: podPressuresOf(field(raw, 'pods'), since),
  };
}

function field(value: unknown, key: string): unknown {
  return isRecord(value) ? value[key] : undefined;
}

function figure(value: unknown, key: string): number | undefined {
  const found = field(value, key);
  return typeof found === 'number' && found >= 0 ? found : undefined;
}

function hasWaitedForCpu(node: unknown): boolean {
  return (figure(field(field(field(node, 'cpu'), 'psi'), 'some'), 'total') ?? 0) > 0;
}

/** PSI of one resource of the node or of a pod, unless it is too old. */
function psiOf(owner: unknown, resource: string, since: Instant): unknown {
  const entry = field(owner, resource);
  return Date.parse(String(field(entry, 'time'))) >= since ? field(entry, 'psi') : undefined;
}

/** From 0 to 1; the wire has percent. */
function average(psi: unknown, share: Share, key: string): number | undefined {
  const percent = figure(field(psi, share), key);
  return percent === undefined ? undefined : Math.min(1, percent / PERCENT);
}

function ratiosOf(resource: (typeof RESOURCES)[number], psi: unknown): readonly StallRatio[] {
  return SHARES.flatMap((share) =>
    WINDOWS.flatMap(([key, windowMs]) => {
      const ratio = average(psi, share, key);
      return ratio === undefined ? [] : [{ signal: `${resource}.pressure` as const, share, windowMs, ratio }];
    }),
  );
}

function podPressuresOf(pods: unknown, since: Instant): PodPressureByUid {
  const podPressures = new Map<string, PodPressure>();
  for (const pod of Array.isArray(pods) ? (pods as readonly unknown[]) : []) {
    const uid = field(field(pod, 'podRef'), 'uid');
    const sharesOf = (share: Share): ResourceShares =>
      Object.fromEntries(RESOURCES.map((resource) => [resource, average(psiOf(pod, resource, since), share, 'avg10')]));
    if (typeof uid === 'string') podPressures.set(uid, { waiting: sharesOf('some'), stalled: sharesOf('full') });
  }
  return podPressures;
}
