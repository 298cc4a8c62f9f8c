import type { GaugeMetric, Metrics } from '#shared/runtime/metrics.ts';
import type { Look } from '#agent/decide/snapshot/node-snapshot.ts';
import {
  isAtCpuLimit,
  isAtMemoryLimit,
  type PodStrain,
  type StrainedResource,
} from '#agent/decide/snapshot/pod-pressure.ts';

/** Pods with series of their own; the others are only counted. */
const TOP = 10;
const RESOURCES: readonly StrainedResource[] = ['memory', 'cpu', 'io'];
/** Who waits less than this, was never at its memory limit and lost no process is not worth a series. */
const LEAST_SHARE = 0.01;

/** What holds single pods up, in numbers: those that wait most, and how many are at their own limit. */
export type ShowStrains = (look: Pick<Look, 'strains' | 'pods'>) => void;

export function createStrainMetrics(metrics: Metrics): ShowStrains {
  const pod = ['namespace', 'pod'];
  const stalls = metrics.gauge(
    'plimsoll_pod_pressure_stall_ratio',
    'Share of time in which some (waiting) or all (stalled) tasks of the pods that wait most waited',
    [...pod, 'resource', 'kind'],
  );
  const limitHits = metrics.gauge(
    'plimsoll_pod_memory_limit_hits',
    'How often the pods that wait most hit their own memory limit since they were made',
    pod,
  );
  const throttled = metrics.gauge(
    'plimsoll_pod_cpu_throttled_ratio',
    'Share of time in which their own CPU limit held back the pods that wait most',
    pod,
  );
  const oomKills = metrics.gauge(
    'plimsoll_pod_oom_kills',
    'Processes that the kernel killed for lack of memory in the pods that wait most, since they were made',
    pod,
  );
  const atLimit = metrics.gauge('plimsoll_pods_at_own_limit', 'Pods held up by their own limit', ['resource']);

  return ({ strains, pods }) => {
    for (const gauge of [stalls, limitHits, throttled, oomKills]) gauge.reset();
    atLimit.set(count(strains, isAtMemoryLimit), { resource: 'memory' });
    atLimit.set(count(strains, isAtCpuLimit), { resource: 'cpu' });
    for (const [uid, strain] of mostStrained(strains)) {
      const { namespace, name } = pods.aliveByUid.get(uid) ?? {};
      if (namespace === undefined || name === undefined) continue;
      const labels = { namespace, pod: name };
      showStalls(stalls, labels, strain);
      if (strain.limitHits !== undefined) limitHits.set(strain.limitHits, labels);
      if (strain.throttled !== undefined) throttled.set(strain.throttled, labels);
      if (strain.oomKills !== undefined) oomKills.set(strain.oomKills, labels);
    }
  };
}

function showStalls(stalls: GaugeMetric, labels: Readonly<Record<string, string>>, strain: PodStrain): void {
  for (const resource of RESOURCES) {
    const { [resource]: waiting } = strain.waiting;
    const { [resource]: stalled } = strain.stalled;
    if (waiting !== undefined) stalls.set(waiting, { ...labels, resource, kind: 'waiting' });
    if (stalled !== undefined) stalls.set(stalled, { ...labels, resource, kind: 'stalled' });
  }
}

function count(strains: Look['strains'], test: (strain: PodStrain) => boolean): number {
  let found = 0;
  for (const strain of strains.values()) if (test(strain)) found += 1;
  return found;
}

function mostStrained(strains: Look['strains']): readonly (readonly [uid: string, strain: PodStrain])[] {
  const worthShowing: (readonly [string, PodStrain])[] = [];
  for (const entry of strains) if (isWorthShowing(entry[1])) worthShowing.push(entry);
  return worthShowing.toSorted(([, left], [, right]) => strainOf(right) - strainOf(left)).slice(0, TOP);
}

function isWorthShowing(strain: PodStrain): boolean {
  const { limitHits = 0, oomKills = 0 } = strain;
  return strainOf(strain) >= LEAST_SHARE || limitHits > 0 || oomKills > 0;
}

/** A pod at its memory limit comes before all that merely wait. */
function strainOf(strain: PodStrain): number {
  const { memory = 0, cpu = 0, io = 0 } = strain.waiting;
  return (isAtMemoryLimit(strain) ? 1 : 0) + Math.max(memory, cpu, io, strain.throttled ?? 0);
}
