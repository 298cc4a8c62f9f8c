import { reason, type Because } from '#shared/domain/model/because.ts';
import { nodeList } from '#cli/output/table.ts';

/** Every sentence of `plimsoll simulate`, to be read from top to bottom. */

export const NOT_SIMULATED =
  'volumes, dynamic resources and scores are not simulated; kube-scheduler may look at a part of the nodes only';

export function alreadyPlaced(pod: string, node: string): string {
  return `pod ${pod} runs on ${node} already; to place another one like it, pass its manifest with --pod-file`;
}

export function hasClaims(pod: string, volumes: readonly string[]): string {
  return `pod ${pod} uses persistent volumes, which are not simulated: ${volumes.join(', ')}`;
}

export function equalNodes(nodes: readonly string[]): string {
  return `kube-scheduler may also choose ${nodeList(nodes)}, which it ranks equally`;
}

/*
 * `plimsoll simulate rescheduling`.
 */

export const PASS_NOT_SIMULATED =
  'what former moves brought, volumes and the images of nodes are not known here; the pass of a running rescheduler may differ';

export function passHeadline(policy: string, mode: string, moves: number, considered: number): string {
  const what = moves === 1 ? '1 move' : `${moves} moves`;
  return `policy ${policy}, mode ${mode}: ${what}, ${considered} pods considered`;
}

export function loadChange(before: string, after: string): string {
  return `  sum of squared loads: ${before} points before, ${after} after`;
}

export const BUILT_IN_POLICY =
  'no ReschedulingPolicy is among the objects; shown with low 45%, target 65% and all affinity';

export function noSuchPolicy(wanted: string, known: readonly string[]): string {
  return `ReschedulingPolicy ${wanted} not found${known.length === 0 ? '' : `; there are ${known.join(', ')}`}`;
}

export function severalPolicies(known: readonly string[]): string {
  return `there are several ReschedulingPolicies; choose one with --policy: ${known.join(', ')}`;
}

export function moreStay(count: number): string {
  return `${count} more pods stay for these reasons; -o json shows them`;
}

/*
 * `plimsoll simulate pressure`.
 */

export const HISTORY_NOT_SIMULATED =
  'stalls (PSI), pods that are terminating and limits that earlier evictions have used up are not simulated';

export function noSuchNode(wanted: string, known: readonly string[]): string {
  return `node ${wanted} not found${known.length === 0 ? '' : `; there are ${nodeList(known)}`}`;
}

export function expectedAmount(text: string): string {
  return `--available: expected a quantity such as 200Mi, got "${text}"`;
}

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

export const NO_STATISTICS = reason('NoStatistics', () => 'the pod has no statistics')({});

const ABOVE_REQUEST_HELD = reason(
  'AboveRequestHeld',
  (f: { readonly pod: string; readonly why: string }) =>
    `the pod keeps to its request, and ${f.pod}, which may exceed its own, stays: ${f.why}`,
);

export const TOO_SMALL = reason('TooSmall', () => 'the pod uses too little to help')({});

const ABOVE_REQUEST_FIRST = reason(
  'AboveRequestFirst',
  (f: { readonly pod: string }) => `the pod keeps to its request; ${f.pod}, which exceeds its own, is evicted first`,
);

/** Why a pod within its request is not chosen: another one, which exceeds its own, is. */
export function aboveRequestFirst(pod: string): Because {
  return ABOVE_REQUEST_FIRST({ pod }, { pod });
}

/** Why a pod within its request stays: another pod, which may exceed its own, stays. */
export function aboveRequestHeld(pod: string, why: string): Because {
  return ABOVE_REQUEST_HELD({ pod, why }, { pod, why });
}

export function namespaceUnknown(namespace: string): Because {
  return NAMESPACE_UNKNOWN({ namespace }, { namespace });
}

const NAMESPACE_UNKNOWN = reason(
  'NamespaceUnknown',
  (f: { readonly namespace: string }) =>
    `the labels of namespace ${f.namespace} are unknown; the namespace may have opted out`,
);

interface Limit {
  readonly most: number;
}

export function namespaceLimit(most: number): Because {
  return NAMESPACE_LIMIT({ most }, { most });
}

const NAMESPACE_LIMIT = reason(
  'NamespaceLimit',
  ({ most }: Limit) => `its namespace may lose ${most} pods in ten minutes`,
);

export function ownerLimit(most: number): Because {
  return OWNER_LIMIT({ most }, { most });
}

const OWNER_LIMIT = reason('OwnerLimit', ({ most }: Limit) => `its owner may lose ${most} pods within an hour`);

export const LESS_THAN_LIMITED_OWNER = reason(
  'LessThanLimitedOwner',
  () => 'the pod exceeds its request by less than a pod whose owner is at its limit',
)({});

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
  return `${resource} usage is unknown for ${pods.join(', ')}; missingStats is ${missingStats}: ${RULES_WITHOUT_FIGURE[missingStats]}; pass --usage to add figures`;
}

export function morePods(count: number): string {
  return `${count} more pods may be evicted after these; -o json shows them`;
}

export function capacityUnknown(signal: string): string {
  return `the capacity of ${signal} is unknown, so a threshold in percent cannot be compared`;
}

export function comparedFigure(figure: 'Reclaimable' | 'Kubelet'): string {
  return figure === 'Reclaimable'
    ? '--available is compared as reclaimable memory, as memoryFigure of the policy says'
    : '--available is compared as the memory that the kubelet calls available, as memoryFigure of the policy says';
}

export function reportedAt(time: string): string {
  return `where --usage has no figure, usage is from the agent's report of ${time}, which lists at most ten pods`;
}

export const REPORT_TOO_OLD = 'the agent has not reported for minutes; its figures are not used';

export const NO_REPORT = 'the agent of the node has not reported; usage is from --usage alone';

export const AGENT_IN_DRY_RUN = 'the policy enforces, but the agent reports mode DryRun: it removes no pod';

export function policyUnreadable(name: string, field: string, message: string, used: string): string {
  return `NodePressurePolicy ${name} cannot be read, so the agent removes no pod: ${field}: ${message}; shown with policy ${used}`;
}

export function expectedUsage(where: string, line: string): string {
  return `${where}: expected NAMESPACE/POD AMOUNT, such as team-a/web-0 200Mi, got "${line}"`;
}

export function expectedMetrics(where: string, kind: string): string {
  return `${where}: expected PodMetrics, got ${kind}`;
}

export function memoryOnly(file: string, resource: string): string {
  return `${file}: PodMetrics have no ${resource}; pass lines of NAMESPACE/POD AMOUNT`;
}

export function doubledPod(where: string, pod: string): string {
  return `${where}: pod ${pod} stands twice`;
}

/*
 * `plimsoll simulate queue`.
 */

export const QUEUES = {
  headline: (letIn: number, waiting: number): string => {
    if (letIn + waiting === 0) return 'no pod waits in a queue';
    return `${podCount(letIn)} would be let in, ${podCount(waiting)} would go on waiting`;
  },
  released: {
    code: 'Released',
    text: 'its namespace is not managed, so that no queue holds it back',
    facts: {},
  } satisfies Because,
  lookedAt: (count: number): string => `room is looked for only for the first ${count} pods of each list`,
};

function podCount(count: number): string {
  return count === 1 ? '1 pod' : `${count} pods`;
}
