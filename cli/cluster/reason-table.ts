import type { Simulation } from '#shared/domain/preemption/explain/simulate-preemption.ts';
import type { ReasonGroup } from '#shared/domain/preemption/explain/explain-higher-victim.ts';
import { formatSection } from '#cli/output/table.ts';

const MOST_NODES_NAMED = 5;

/**
 * What kube-scheduler would do with a pod, in a sentence. `needs` names what the pod needs beyond the model: then a fit,
 * and what a preemption leads to, are not known.
 */
export function headline(pod: string, simulation: Simulation, needs = ''): string {
  if (needs !== '' && simulation.kind !== 'notPlaceable')
    return `not known whether ${headline(pod, simulation)}: only kube-scheduler checks ${needs}`;
  switch (simulation.kind) {
    case 'fits':
      return `${pod} fits without preemption on ${nodeList(simulation.nodes)}`;
    case 'waits':
      return `${pod} waits for pods that are terminating on ${simulation.node}`;
    case 'preempts':
      return `${pod} would be placed on ${simulation.chosen.node} after ${count(simulation.chosen.victims.length)}`;
    case 'notPlaceable':
      return `${pod} would not be placed on any node`;
  }
}

function count(victims: number): string {
  return victims === 1 ? 'the preemption of 1 pod' : `the preemption of ${victims} pods`;
}

/** Some nodes by name, and how many more there are. */
export function nodeList(nodes: readonly string[]): string {
  const named = nodes.slice(0, MOST_NODES_NAMED).join(', ');
  return nodes.length > MOST_NODES_NAMED ? `${named} and ${nodes.length - MOST_NODES_NAMED} more nodes` : named;
}

/** Which nodes a pod does not go to, and why; empty where there are none. */
export function reasonTable(groups: readonly ReasonGroup[]): string {
  return formatSection(['NODES', 'WHY NOT'], groups.map(reasonCells));
}

function reasonCells({ count, nodes, reason }: ReasonGroup): readonly string[] {
  const more = count > nodes.length ? ` and ${count - nodes.length} more` : '';
  return [`${nodes.join(',')}${more}`, reason];
}
