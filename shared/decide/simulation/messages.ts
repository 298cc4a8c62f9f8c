import { reason } from '#shared/domain/base/because.ts';
import type { Simulation } from '#shared/domain/preemption/explain/simulate-preemption.ts';

/** Every sentence of a simulation, on the command line and in the dashboard, to be read from top to bottom. */

export const NOT_SIMULATED =
  'volumes, dynamic resources and scores are not simulated; kube-scheduler may look at a part of the nodes only';

const MAX_NODES_NAMED = 5;

/**
 * What kube-scheduler would do with a pod, in a sentence. `needs` names requirements of the pod that the model does not
 * cover; with any, the result is unknown.
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
  const named = nodes.slice(0, MAX_NODES_NAMED).join(', ');
  return nodes.length > MAX_NODES_NAMED ? `${named} and ${nodes.length - MAX_NODES_NAMED} more nodes` : named;
}

export function hasClaims(pod: string, volumes: readonly string[]): string {
  return `pod ${pod} uses persistent volumes, which are not simulated: ${volumes.join(', ')}`;
}

export function equalNodes(nodes: readonly string[]): string {
  return `kube-scheduler may also choose ${nodeList(nodes)}, which it ranks equally`;
}

export const HISTORY_NOT_SIMULATED =
  'stalls (PSI), pods that are terminating and limits that earlier evictions have used up are not simulated';

export function evictedFirst(node: string, pods: readonly string[]): string {
  const [first = '', ...others] = pods;
  const together = others.length === 0 ? '' : `, together with ${others.join(', ')}`;
  return `${node}: ${first} would be evicted first${together}`;
}

export function noPodEvicted(node: string): string {
  return `${node}: no pod would be evicted`;
}

interface Met {
  readonly signal: string;
  readonly available: string;
  readonly needed: string;
  readonly gracePeriodSeconds: number;
  readonly stage: 'mild' | 'severe';
  readonly policy: string;
  readonly mode: 'DryRun' | 'Enforce';
}

function thresholdText({ stage, needed, gracePeriodSeconds }: Met): string {
  return stage === 'severe'
    ? `hard threshold of ${needed} (severe)`
    : `soft threshold of ${needed} (mild, pods are evicted after ${gracePeriodSeconds} s)`;
}

function dryRunText({ mode }: Met): string {
  return mode === 'DryRun' ? ': the agent reports the eviction and removes no pod' : '';
}

export const PRESSURE = {
  thresholdMet: reason<Met>(
    ({ stage }) => (stage === 'severe' ? 'HardThresholdMet' : 'SoftThresholdMet'),
    (f) =>
      `${f.signal} is ${f.available}, below the ${thresholdText(f)}; policy ${f.policy}, mode ${f.mode}${dryRunText(f)}`,
  ),
  noThresholdMet: reason<Pick<Met, 'signal' | 'available' | 'policy'>>(
    'NoThresholdMet',
    (f) => `${f.signal} is ${f.available}; no threshold of policy ${f.policy} is met`,
  ),
  noThreshold: reason<Pick<Met, 'signal' | 'policy'>>(
    'NoThreshold',
    (f) => `policy ${f.policy} has no threshold for ${f.signal}`,
  ),
} as const;

export const NO_ELIGIBLE_POD = 'no pod of the node may be evicted';
export const LIMITS_ALLOW_NONE = 'the limits of the policy allow no eviction';

const RULES_WITHOUT_FIGURE = {
  Never: 'the agent evicts no pod without a figure',
  Last: 'they are ranked after all others',
  First: 'they are ranked before all others',
} as const;

export function withoutFigure(
  resource: string,
  pods: readonly string[],
  missingStats: keyof typeof RULES_WITHOUT_FIGURE,
): string {
  return `${resource} usage is unknown for ${pods.join(', ')}; missingStats is ${missingStats}: ${RULES_WITHOUT_FIGURE[missingStats]}`;
}

export function capacityUnknown(signal: string): string {
  return `the capacity of ${signal} is unknown, so a threshold in percent cannot be compared`;
}

export function comparedFigure(figure: 'Reclaimable' | 'Kubelet'): string {
  return figure === 'Reclaimable'
    ? 'what is left is compared as reclaimable memory, as memoryFigure of the policy says'
    : 'what is left is compared as the memory that the kubelet calls available, as memoryFigure of the policy says';
}

export function reportedAt(time: string): string {
  return `usage that was not given is from the agent's report of ${time}, which lists at most ten pods`;
}

export const REPORT_TOO_OLD = 'the agent has not reported for minutes; its figures are not used';

export const NO_REPORT = 'the agent of the node has not reported; usage that was not given is unknown';

export const AGENT_IN_DRY_RUN = 'the policy enforces, but the agent reports mode DryRun: it removes no pod';

export function policyUnreadable(name: string, field: string, message: string, used: string): string {
  return `NodePressurePolicy ${name} cannot be read, so the agent removes no pod: ${field}: ${message}; shown with policy ${used}`;
}
