import { NAMESPACE_NODE } from '#shared/kube/api-names.ts';

/** Every sentence of `plimsoll top`, to be read from top to bottom. */

export const NO_NODE_PRESSURE = `no NodePressure found: see that the agent is installed (kubectl -n ${NAMESPACE_NODE} get daemonsets)`;

export const NO_NODE = 'no NodePressure found of a node with these labels';

export const NO_CANDIDATE = 'no pod found that an agent would evict next';

export const NO_QUOTA =
  'no quota by priority found: no PriorityQuota, and no ResourceQuota that counts priority classes';

export function noQuotaIn(namespace: string): string {
  return `no quota found that limits namespace ${namespace}`;
}

export const WATCHES_ALL = "'--watch' and '--namespace' exclude each other here";

export const NO_QUEUE = 'no Queue found: see that there are some (kubectl get queues)';

export const NO_SPARE_ROOM =
  'no agent reports spare room: set spec.spare of a NodePressurePolicy, and see that agents run (plimsoll top nodes)';

export function spareSumsText(f: {
  readonly nodes: number;
  readonly resource: string;
  readonly requested: string;
  readonly idle: string;
  readonly lent: string;
  readonly taken: string;
}): string {
  return `${f.nodes} nodes: of ${f.requested} ${f.resource} requested, ${f.idle} is not used; ${f.lent} is lent, of which spare pods take ${f.taken}`;
}

export function noNode(name: string): string {
  return `no NodePressure of node ${name} found: see that it exists (kubectl get nodes) and that an agent runs there`;
}

/** Shown for an unknown figure. */
export const UNKNOWN = '<unknown>';

export function stale(nodes: readonly string[]): string {
  return `the agent has not reported for minutes on: ${nodes.join(', ')}; these nodes count as unknown`;
}
