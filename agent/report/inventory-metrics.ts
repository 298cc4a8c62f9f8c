import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { Inventory } from '#agent/observe/node/inventory.ts';
import { LOG } from '#agent/messages.ts';

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
