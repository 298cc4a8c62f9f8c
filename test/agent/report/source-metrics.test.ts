import { expect, test } from 'vitest';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { NO_GROUPS, type GroupName, type GroupUsage, type GroupUsages } from '#agent/observe/cgroup/pod-rates.ts';
import type { SourceHealth } from '#agent/observe/source/source.ts';
import { createSourceMetrics, type SourcesShown } from '#agent/report/source-metrics.ts';
import { because } from '#test/agent/node-scene.ts';

function healthOf(name: string, state: SourceHealth['state']): SourceHealth {
  return { name, state, because: undefined, lastReadingAtMs: 1000, durationMs: 2, failures: 0 };
}

test('each source has its series while it is read, and each comparison while there is one', async () => {
  const metrics = createMetrics('agent');
  const show = createSourceMetrics(metrics);
  const lines = async (shown: SourcesShown): Promise<string[]> => {
    show(shown, 3000);
    return (await metrics.text()).split('\n').filter((line) => line.startsWith('plimsoll_source'));
  };
  const fallen = await lines({
    health: [healthOf('node-memory', 'failed'), healthOf('kubelet-summary', 'reading')],
    verdicts: [
      { source: 'a', kind: 'agrees' },
      { source: 'b', kind: 'differs', because: because('SourcesDisagree') },
      { source: 'c', kind: 'incomparable', because: because('SourcesNotComparable') },
    ],
    hasFallenBack: true,
    groups: NO_GROUPS,
  });
  expect(fallen).toEqual([
    'plimsoll_source_success{source="node-memory"} 0',
    'plimsoll_source_success{source="kubelet-summary"} 1',
    'plimsoll_source_age_seconds{source="node-memory"} 2',
    'plimsoll_source_age_seconds{source="kubelet-summary"} 2',
    'plimsoll_source_duration_seconds{source="node-memory"} 0.002',
    'plimsoll_source_duration_seconds{source="kubelet-summary"} 0.002',
    'plimsoll_source_agrees{source="a"} 1',
    'plimsoll_source_agrees{source="b"} 0',
    'plimsoll_source_fallback 1',
  ]);
  const well = { health: [healthOf('node-memory', 'reading')], verdicts: [], hasFallenBack: false, groups: NO_GROUPS };
  expect(await lines(well)).toEqual([
    'plimsoll_source_success{source="node-memory"} 1',
    'plimsoll_source_age_seconds{source="node-memory"} 2',
    'plimsoll_source_duration_seconds{source="node-memory"} 0.002',
    'plimsoll_source_fallback 0',
  ]);
});

test('node and pods as a whole have series for what the kernel counts of them', async () => {
  const metrics = createMetrics('agent');
  const show = createSourceMetrics(metrics);
  const lines = async (groups: GroupUsages): Promise<string[]> => {
    show({ health: [], verdicts: [], hasFallenBack: false, groups }, 3000);
    return (await metrics.text()).split('\n').filter((line) => line.startsWith('plimsoll_group'));
  };
  const pods = { processCount: 12, cpuNanoCores: 1.5e9, ioBytesPerSecond: 4096 };
  const node = { ...pods, processCount: undefined, cpuNanoCores: 2e9 };
  const groups: GroupUsages = new Map<GroupName, GroupUsage>([
    ['node', node],
    ['pods', pods],
  ]);
  expect(await lines(groups)).toEqual([
    'plimsoll_group_cpu_cores{group="node"} 2',
    'plimsoll_group_cpu_cores{group="pods"} 1.5',
    'plimsoll_group_io_bytes_per_second{group="node"} 4096',
    'plimsoll_group_io_bytes_per_second{group="pods"} 4096',
    'plimsoll_group_processes{group="pods"} 12',
  ]);
  expect(await lines(NO_GROUPS)).toEqual([]);
});
