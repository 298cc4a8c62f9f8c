import type { StalledResource } from '#shared/domain/pressure/signal.ts';
import type { GaugeMetric, Metrics } from '#shared/runtime/metrics.ts';
import {
  type NodeSnapshot,
  isAtCpuLimit,
  isAtMemoryLimit,
  type PodPressure,
} from '#shared/decide/eviction/snapshot/node-snapshot.ts';

/** Number of pods with series of their own; the others are only counted. */
const TOP = 10;
const RESOURCES: readonly StalledResource[] = ['memory', 'cpu', 'io'];
/** A pod below this share, never at its memory limit and without an OOM kill gets no series. */
const LEAST_SHARE = 0.01;

/** Shows the pods under the highest pressure, and how many are at their own limit. */
export type ShowPodPressures = (snapshot: Pick<NodeSnapshot, 'podPressures' | 'pods'>) => void;

export function createPodPressureMetrics(metrics: Metrics): ShowPodPressures {
  const pod = ['namespace', 'pod'];
  const stalls = metrics.gauge(
    'plimsoll_pod_pressure_stall_ratio',
    'Share of time in which some (waiting) or all (stalled) tasks of a pod waited; only pods under the highest pressure',
    [...pod, 'resource', 'kind'],
  );
  const limitHits = metrics.readCounter(
    'plimsoll_pod_memory_limit_hits_total',
    'How often a pod hit its own memory limit since it was created; only pods under the highest pressure',
    pod,
  );
  const throttled = metrics.gauge(
    'plimsoll_pod_cpu_throttled_ratio',
    'Share of time in which a pod was throttled by its own CPU limit; only pods under the highest pressure',
    pod,
  );
  const oomKills = metrics.readCounter(
    'plimsoll_pod_oom_kills_total',
    'Processes of a pod that the kernel’s OOM killer ended since the pod was created; only pods under the highest pressure',
    pod,
  );
  const atLimit = metrics.gauge('plimsoll_pods_at_own_limit', 'Pods slowed down by their own limit', ['resource']);

  return ({ podPressures, pods }) => {
    for (const gauge of [stalls, limitHits, throttled, oomKills]) gauge.reset();
    atLimit.set(count(podPressures, isAtMemoryLimit), { resource: 'memory' });
    atLimit.set(count(podPressures, isAtCpuLimit), { resource: 'cpu' });
    for (const [uid, podPressure] of highestPressure(podPressures)) {
      const { namespace, name } = pods.aliveByUid.get(uid) ?? {};
      if (namespace === undefined || name === undefined) continue;
      const labels = { namespace, pod: name };
      showStalls(stalls, labels, podPressure);
      if (podPressure.limitHits !== undefined) limitHits.set(podPressure.limitHits, labels);
      if (podPressure.throttled !== undefined) throttled.set(podPressure.throttled, labels);
      if (podPressure.oomKills !== undefined) oomKills.set(podPressure.oomKills, labels);
    }
  };
}

function showStalls(stalls: GaugeMetric, labels: Readonly<Record<string, string>>, podPressure: PodPressure): void {
  for (const resource of RESOURCES) {
    const { [resource]: waiting } = podPressure.waiting;
    const { [resource]: stalled } = podPressure.stalled;
    if (waiting !== undefined) stalls.set(waiting, { ...labels, resource, kind: 'waiting' });
    if (stalled !== undefined) stalls.set(stalled, { ...labels, resource, kind: 'stalled' });
  }
}

function count(podPressures: NodeSnapshot['podPressures'], test: (podPressure: PodPressure) => boolean): number {
  let found = 0;
  for (const podPressure of podPressures.values()) if (test(podPressure)) found += 1;
  return found;
}

function highestPressure(
  podPressures: NodeSnapshot['podPressures'],
): readonly (readonly [uid: string, podPressure: PodPressure])[] {
  const worthShowing: (readonly [string, PodPressure])[] = [];
  for (const entry of podPressures) if (isWorthShowing(entry[1])) worthShowing.push(entry);
  return worthShowing.toSorted(([, left], [, right]) => podPressureOf(right) - podPressureOf(left)).slice(0, TOP);
}

function isWorthShowing(podPressure: PodPressure): boolean {
  const { limitHits = 0, oomKills = 0 } = podPressure;
  return podPressureOf(podPressure) >= LEAST_SHARE || limitHits > 0 || oomKills > 0;
}

/** A pod at its memory limit ranks above all others. */
function podPressureOf(podPressure: PodPressure): number {
  const { memory = 0, cpu = 0, io = 0 } = podPressure.waiting;
  return (isAtMemoryLimit(podPressure) ? 1 : 0) + Math.max(memory, cpu, io, podPressure.throttled ?? 0);
}
