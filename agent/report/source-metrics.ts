import type { Metrics } from '#shared/runtime/metrics.ts';
import type { SourceVerdict } from '#agent/cross-check/compare-opinion.ts';
import type { GroupUsages } from '#agent/observe/cgroup/pod-rates.ts';
import type { SourceHealth } from '#agent/observe/source/source.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Inventory } from '#agent/observe/node/second-opinions.ts';
import { LOG } from '#agent/messages.ts';

/** Health of the sources, which of them agree, and whether the fallback is in use. */
export interface SourcesShown {
  readonly health: readonly SourceHealth[];
  readonly verdicts: readonly SourceVerdict[];
  readonly hasFallenBack: boolean;
  readonly groups: GroupUsages;
}

/** Shows the sources as metrics; a source that is no longer read loses its series. */
export type ShowSources = (sources: SourcesShown, nowMs: number) => void;

const NANO_CORES_PER_CORE = 1e9;

export function createSourceMetrics(metrics: Metrics): ShowSources {
  const label = ['source'];
  const success = metrics.gauge('plimsoll_source_success', 'Whether the last read of a source succeeded', label);
  const age = metrics.gauge('plimsoll_source_age_seconds', 'Age of the last successful reading of a source', label);
  const duration = metrics.gauge('plimsoll_source_duration_seconds', 'Duration of the last read of a source', label);
  const agrees = metrics.gauge(
    'plimsoll_source_agrees',
    'Whether another source agrees with the agent’s own reading',
    label,
  );
  const fallback = metrics.gauge(
    'plimsoll_source_fallback',
    'Whether the agent uses the kubelet summary because it cannot read memory from the kernel',
  );

  const cpu = metrics.gauge('plimsoll_group_cpu_cores', 'CPU cores used by the node or by all pods', ['group']);
  const io = metrics.gauge(
    'plimsoll_group_io_bytes_per_second',
    'Bytes read and written per second by the node or by all pods',
    ['group'],
  );
  const processes = metrics.gauge('plimsoll_group_processes', 'Processes and threads of all pods', ['group']);

  function showGroups(groups: GroupUsages): void {
    for (const [group, { cpuNanoCores, ioBytesPerSecond, processCount }] of groups) {
      if (cpuNanoCores !== undefined) cpu.set(cpuNanoCores / NANO_CORES_PER_CORE, { group });
      if (ioBytesPerSecond !== undefined) io.set(ioBytesPerSecond, { group });
      if (processCount !== undefined) processes.set(processCount, { group });
    }
  }

  function showHealth(health: readonly SourceHealth[], nowMs: number): void {
    for (const { name, state, lastReadingAtMs, durationMs } of health) {
      const labels = { source: name };
      success.set(state === 'reading' ? 1 : 0, labels);
      duration.set(durationMs / 1000, labels);
      if (lastReadingAtMs !== undefined) age.set((nowMs - lastReadingAtMs) / 1000, labels);
    }
  }

  /** A source that could not be compared has no series. */
  function showVerdicts(verdicts: readonly SourceVerdict[]): void {
    for (const { source, kind } of verdicts) {
      if (kind === 'agrees' || kind === 'differs') agrees.set(kind === 'agrees' ? 1 : 0, { source });
    }
  }

  return ({ health, verdicts, hasFallenBack, groups }, nowMs) => {
    for (const gauge of [success, age, duration, agrees, cpu, io, processes]) gauge.reset();
    showGroups(groups);
    showHealth(health, nowMs);
    showVerdicts(verdicts);
    fallback.set(hasFallenBack ? 1 : 0);
  };
}

/** Shows the node's inventory: gauges always, a log line at the start and on a change. */
export type ShowInventory = (inventory: Inventory) => void;

export function createInventoryMetrics(metrics: Metrics, log: Pick<Log, 'info'>): ShowInventory {
  const info = metrics.gauge('plimsoll_node_info', 'Kernel release of the node; always 1', ['kernel']);
  const cpus = metrics.gauge('plimsoll_node_cpus', 'Number of processors of the node');
  const memory = metrics.gauge('plimsoll_node_memory_bytes', 'Memory of the node in bytes');
  const swap = metrics.gauge('plimsoll_node_swap_bytes', 'Swap of the node in bytes; 0 without swap');
  let shown = '';

  return (inventory) => {
    info.reset();
    info.set(1, { kernel: inventory.kernel });
    cpus.set(inventory.cpus);
    memory.set(inventory.memoryBytes);
    swap.set(inventory.swapBytes);
    const now = JSON.stringify(inventory);
    if (now !== shown) log.info({ inventory }, LOG.inventory);
    shown = now;
  };
}
