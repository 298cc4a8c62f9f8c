import { EVICTING_SIGNALS } from '#shared/domain/pressure/signal.ts';
import type { SpareStatus } from '#shared/api/spare-status.ts';
import { SPARE_KINDS } from '#shared/domain/spare/spare-resources.ts';
import type { GaugeMetric, Metrics } from '#shared/runtime/metrics.ts';
import { stuckCount } from '#shared/decide/eviction/eviction-gates.ts';
import { STALL_WINDOWS_MS } from '#agent/observe/source/stall-meter.ts';
import type { Attempt, PassResult } from '#shared/decide/eviction/decide.ts';
import { type Reclaimable, type SignalReport, signalStates } from './signal-state.ts';
import { createSourceMetrics, type SourcesShown } from './source-metrics.ts';
import { createPodPressureMetrics } from './pod-pressure-metrics.ts';
import { createResourceSeconds } from './resource-seconds.ts';

/** All metrics of the agent. Per-pod series exist for the first candidates only. */
export interface AgentMetrics {
  /** Sets all gauges from the last pass. */
  readonly show: (result: PassResult, sources: SourcesShown, nowMs: number, spare?: SpareStatus) => void;
  readonly countAttempt: (attempt: Attempt, nowMs: number) => void;
  /** Delay of a pass in seconds: a watchdog on the process's own loop. */
  readonly noteLateness: (seconds: number) => void;
  readonly notePass: (seconds: number) => void;
}

const TOP = 10;
const LATENESS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5];
const AGE_BUCKETS = [0.01, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const USUAL_RESULTS = { enforce: 'evicted', 'dry-run': 'pretended' } as const;
const KINDS = { some: 'waiting', full: 'stalled' } as const;

export function createAgentMetrics(metrics: Metrics): AgentMetrics {
  const gauges = createGauges(metrics);
  const showSources = createSourceMetrics(metrics);
  const showPodPressures = createPodPressureMetrics(metrics);
  const countResourceSeconds = createResourceSeconds(metrics);
  const spareRoom = metrics.gauge(
    'plimsoll_spare_room',
    'Requested, used, lendable, lent and taken amounts of memory in bytes and of CPU in cores; used is without spare pods',
    ['resource', 'figure'],
  );
  const evictions = metrics.counter('plimsoll_evictions_total', 'Eviction attempts by signal, result and mode', [
    'eviction_signal',
    'result',
    'mode',
  ]);
  // `increase` misses the first event of a series that starts with it.
  for (const signal of EVICTING_SIGNALS)
    for (const [mode, result] of Object.entries(USUAL_RESULTS))
      evictions.add({ eviction_signal: signal, result, mode }, 0);
  const statsAge = metrics.histogram(
    'plimsoll_eviction_stats_age_seconds',
    'Age of the measurement that an eviction was based on',
    ['eviction_signal'],
    AGE_BUCKETS,
  );
  const lateness = metrics.histogram(
    'plimsoll_agent_loop_lateness_seconds',
    'Delay between the scheduled and the actual start of passes',
    [],
    LATENESS_BUCKETS,
  );
  const passes = metrics.histogram('plimsoll_agent_pass_duration_seconds', 'Duration of passes', []);

  function countAttempt({ eviction, outcome }: Attempt, nowMs: number): void {
    const mode = eviction.mode === 'Enforce' ? 'enforce' : 'dry-run';
    evictions.add({ eviction_signal: eviction.signal, result: outcome.kind, mode });
    const measuredAt = eviction.observed?.at;
    if (measuredAt !== undefined) statsAge.observe((nowMs - measuredAt) / 1000, { eviction_signal: eviction.signal });
  }

  return {
    show: (result, sources, nowMs, spare) => {
      showSignals(gauges, result);
      showStalls(gauges, result);
      showPodPressures(result.snapshot);
      countResourceSeconds(result.snapshot);
      showSources(sources, nowMs);
      showCandidates(gauges, result);
      showEvictions(gauges, result);
      showSpareRoom(spareRoom, spare);
    },
    countAttempt,
    noteLateness: (seconds) => lateness.observe(seconds),
    notePass: (seconds) => passes.observe(seconds),
  };
}

type Gauges = ReturnType<typeof createGauges>;

function createGauges(metrics: Metrics) {
  return { ...signalGauges(metrics), ...podGauges(metrics), ...evictionGauges(metrics) };
}

function signalGauges(metrics: Metrics) {
  const signal = ['eviction_signal'];
  return {
    available: metrics.gauge(
      'plimsoll_eviction_signal_available',
      'Available amount of an eviction signal, in its own unit',
      signal,
    ),
    capacity: metrics.gauge(
      'plimsoll_eviction_signal_capacity',
      'Capacity of an eviction signal, in its own unit',
      signal,
    ),
    threshold: metrics.gauge(
      'plimsoll_eviction_signal_threshold',
      'Eviction threshold that would be crossed first, in the unit of the signal',
      signal,
    ),
    reclaimable: metrics.gauge(
      'plimsoll_eviction_signal_reclaimable',
      'Memory that processes can still allocate, in bytes; plimsoll_eviction_signal_available is the kubelet’s figure',
      signal,
    ),
    figuresAgree: metrics.gauge(
      'plimsoll_memory_figures_agree',
      'Whether available and reclaimable memory differ by at most 10 % of the capacity',
      signal,
    ),
    stalls: metrics.gauge(
      'plimsoll_node_pressure_stall_ratio',
      'Share of time in which some (waiting) or all (stalled) tasks waited',
      ['resource', 'kind', 'window'],
    ),
  };
}

function podGauges(metrics: Metrics) {
  const pod = ['namespace', 'pod'];
  return {
    candidateUsage: metrics.gauge(
      'plimsoll_eviction_candidate_usage',
      'Usage of the first candidates, in the unit of the signal that they are ranked by',
      pod,
    ),
    candidateRank: metrics.gauge(
      'plimsoll_eviction_candidate_rank',
      'Place in the eviction ranking; 1 is evicted first',
      pod,
    ),
    dropped: metrics.counter(
      'plimsoll_series_dropped_total',
      'Candidates without a series of their own, summed over updates',
    ),
    doubtful: metrics.gauge('plimsoll_pods_doubtful', 'Pods whose memory usage another source contradicts'),
  };
}

function evictionGauges(metrics: Metrics) {
  return {
    outstanding: metrics.gauge('plimsoll_evictions_outstanding', 'Evictions in flight'),
    stuck: metrics.gauge(
      'plimsoll_evictions_stuck',
      'Evicted pods that still hold their resources after their grace period',
    ),
    held: metrics.gauge(
      'plimsoll_evictions_held',
      'Why no pod is evicted although a resource is short; 1 for each reason',
      ['reason'],
    ),
    mode: metrics.gauge('plimsoll_agent_enforcing', 'Whether the agent enforces its decisions'),
    podsUnreadable: metrics.gauge(
      'plimsoll_pods_unreadable',
      'Pods of this node that cannot be read and are therefore no candidates',
    ),
    oomKills: metrics.readCounter(
      'plimsoll_node_oom_kills_total',
      'Processes that the kernel’s OOM killer ended since boot',
    ),
  };
}

function showSignals(gauges: Gauges, result: PassResult): void {
  const { available, capacity, threshold, reclaimable, figuresAgree } = gauges;
  for (const gauge of [available, capacity, threshold, reclaimable, figuresAgree]) gauge.reset();
  for (const signal of signalStates(result)) {
    const labels = { eviction_signal: signal.name };
    available.set(signal.availableNumber, labels);
    capacity.set(signal.capacityNumber, labels);
    if (signal.thresholdNumber !== undefined) threshold.set(signal.thresholdNumber, labels);
    if (signal.reclaimable !== undefined) showReclaimable(gauges, signal.name, signal.reclaimable, result);
  }
}

function showReclaimable(
  { reclaimable, figuresAgree }: Gauges,
  name: SignalReport['name'],
  { availableNumber }: Reclaimable,
  { decision: { state } }: PassResult,
): void {
  const labels = { eviction_signal: name };
  reclaimable.set(availableNumber, labels);
  figuresAgree.set([...state.figures.gaps.keys()].some((signal) => signal === name) ? 0 : 1, labels);
}

function showStalls({ stalls }: Gauges, { snapshot }: PassResult): void {
  stalls.reset();
  for (const { signal, share, windowMs, ratio } of snapshot.stalls) {
    if (!STALL_WINDOWS_MS.some((shown) => shown === windowMs)) continue;
    stalls.set(ratio, { resource: signal.replace('.pressure', ''), kind: KINDS[share], window: `${windowMs / 1000}s` });
  }
}

function showCandidates(gauges: Gauges, { decision: { assessment } }: PassResult): void {
  gauges.candidateUsage.reset();
  gauges.candidateRank.reset();
  const may = assessment.candidates();
  may.slice(0, TOP).forEach(({ facts: { pod }, usage }, index) => {
    const labels = { namespace: pod.namespace, pod: pod.name };
    gauges.candidateRank.set(index + 1, labels);
    if (usage !== undefined) gauges.candidateUsage.set(usage, labels);
  });
  if (may.length > TOP) gauges.dropped.add({}, may.length - TOP);
}

const SPARE_FIGURES = ['requested', 'used', 'lendable', 'lent', 'taken'] as const;
const UNITS = { memory: 1, cpu: 1_000 } as const;

/** Nothing while spare room is not measured; what is lent only where it is offered. */
function showSpareRoom(gauge: GaugeMetric, spare: SpareStatus | undefined): void {
  gauge.reset();
  if (spare === undefined) return;
  for (const resource of SPARE_KINDS)
    for (const figure of SPARE_FIGURES)
      if (figure !== 'lent' || spare.mode === 'Enforce')
        gauge.set(spare[resource][figure] / UNITS[resource], { resource, figure });
}

function showEvictions(gauges: Gauges, { decision: { state, assessment }, policy, snapshot }: PassResult): void {
  gauges.outstanding.set(state.evictions.Enforce.inflight.length);
  gauges.stuck.set(stuckCount(state.evictions.Enforce));
  gauges.held.reset();
  for (const { code } of assessment.closedGates) gauges.held.set(1, { reason: code });
  gauges.podsUnreadable.set(snapshot.pods.unreadable.length);
  gauges.doubtful.set(snapshot.doubtfulPods.size);
  gauges.mode.set(policy.mode === 'Enforce' ? 1 : 0);
  if (snapshot.oomKills !== undefined) gauges.oomKills.set(snapshot.oomKills);
}
