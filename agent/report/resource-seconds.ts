import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import type { CounterMetric, Metrics } from '#shared/runtime/metrics.ts';
import type { NodeSnapshot } from '#shared/decide/eviction/snapshot/node-snapshot.ts';

/** Adds the usage of the node's pods since the last pass. */
export type CountResourceSeconds = (snapshot: Pick<NodeSnapshot, 'usage' | 'pods'>) => void;

interface UsageSample {
  readonly at: Instant;
  readonly bytes: number;
  readonly cores: number;
}

/** Finer steps would not change a bill. */
const SHORTEST_STEP_MS = 1_000;
/** The usage during a longer gap is unknown. */
const MAX_STEP_MS = 60_000;
/** Tenants create namespaces and classes, and a series exists as long as the process. */
const MAX_SERIES = 1_000;
const OTHERS = { namespace: '', priority_class: '' };

/**
 * The usage of pods by priority and namespace, for chargeback (S3-13): the sum over time of the measured usage, so that
 * the rate of the counter is the mean usage. Between two readings of a pod, the later one counts.
 */
export function createResourceSeconds(metrics: Metrics): CountResourceSeconds {
  const seconds = metrics.counter(
    'plimsoll_priority_resource_seconds_total',
    'Usage of pods over time: byte-seconds of memory and core-seconds of cpu; usage beyond a thousand namespaces and classes has an empty namespace',
    ['namespace', 'priority_class', 'resource'],
  );
  const known = new Set<string>();
  let last = new Map<string, UsageSample>();
  return ({ usage, pods }) => {
    const next = new Map<string, UsageSample>();
    for (const [uid, pod] of pods.aliveByUid) {
      const reading = readingOf(usage.get(uid));
      const before = last.get(uid);
      if (reading === undefined || (before !== undefined && reading.at - before.at < SHORTEST_STEP_MS)) {
        if (before !== undefined) next.set(uid, before);
        continue;
      }
      next.set(uid, reading);
      if (before !== undefined) addStep(seconds, labelsOf(pod, known), before, reading);
    }
    last = next;
  };
}

function readingOf(usage: PodUsage | undefined): UsageSample | undefined {
  const { at, workingSetBytes } = usage?.memory ?? {};
  if (at === undefined || workingSetBytes === undefined) return undefined;
  return { at, bytes: workingSetBytes, cores: (usage?.cpuNanoCores ?? 0) / 1e9 };
}

function addStep(
  metric: CounterMetric,
  labels: typeof OTHERS,
  before: UsageSample,
  { at, bytes, cores }: UsageSample,
): void {
  const seconds = (at - before.at) / 1_000;
  if (at - before.at > MAX_STEP_MS) return;
  metric.add({ ...labels, resource: 'memory' }, bytes * seconds);
  metric.add({ ...labels, resource: 'cpu' }, cores * seconds);
}

function labelsOf({ namespace, spec }: Pod, known: Set<string>): typeof OTHERS {
  const labels = { namespace, priority_class: spec.priorityClassName ?? '' };
  const key = `${namespace}/${labels.priority_class}`;
  if (!known.has(key) && known.size >= MAX_SERIES) return OTHERS;
  known.add(key);
  return labels;
}
