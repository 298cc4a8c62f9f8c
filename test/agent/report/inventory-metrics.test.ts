import { expect, test } from 'vitest';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createInventoryMetrics } from '#agent/report/source-metrics.ts';

test('an inventory is shown in numbers, and logged at first and when it changes', async () => {
  const metrics = createMetrics('agent');
  const lines: unknown[] = [];
  const show = createInventoryMetrics(metrics, { info: (facts: unknown) => void lines.push(facts) });
  const old = { kernel: '6.1.0', cpus: 2, memoryBytes: 4096, swapBytes: 0 };
  const changed = { ...old, kernel: '6.1.1', swapBytes: 1024 };
  show(old);
  show(old);
  show(changed);
  const shown = (await metrics.text()).split('\n').filter((line) => line.startsWith('plimsoll_node_'));
  expect(shown).toEqual([
    'plimsoll_node_info{kernel="6.1.1"} 1',
    'plimsoll_node_cpus 2',
    'plimsoll_node_memory_bytes 4096',
    'plimsoll_node_swap_bytes 1024',
  ]);
  expect(lines).toEqual([{ inventory: old }, { inventory: changed }]);
});
