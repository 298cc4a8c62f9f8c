import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { Inventory } from '#agent/observe/node/inventory.ts';

/** Tells what the node is made of: gauges always, a log line at first and on a change. */
export type ShowInventory = (inventory: Inventory) => void;

export function createInventoryMetrics(metrics: Metrics, log: Pick<Log, 'info'>): ShowInventory {
  const info = metrics.gauge('plimsoll_node_info', 'What the node runs; always 1', ['kernel']);
  const cpus = metrics.gauge('plimsoll_node_cpus', 'Processors of the node');
  const memory = metrics.gauge('plimsoll_node_memory_bytes', 'Memory of the node');
  const swap = metrics.gauge('plimsoll_node_swap_bytes', 'Swap of the node, 0 without');
  let shown = '';

  return (inventory) => {
    info.reset();
    info.set(1, { kernel: inventory.kernel });
    cpus.set(inventory.cpus);
    memory.set(inventory.memoryBytes);
    swap.set(inventory.swapBytes);
    const now = JSON.stringify(inventory);
    if (now !== shown) log.info({ inventory }, 'The node is made of this');
    shown = now;
  };
}
