import type { Because } from '#shared/domain/base/because.ts';
import { nodeList } from '#shared/decide/simulation/messages.ts';

/** Every sentence of `plimsoll simulate`, to be read from top to bottom. */

export function alreadyPlaced(pod: string, node: string): string {
  return `pod ${pod} runs on ${node} already; to place another one like it, pass its manifest with --pod-file`;
}

export const NOTHING_MEASURED =
  'no agent reports spare room: set spec.spare of a NodePressurePolicy to mode DryRun, and wait for an hour';

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

export function limitsNotKnown(problem: string): string {
  return `DisruptionLimits and default limits are not counted: ${problem}`;
}

export function moreStay(count: number): string {
  return `${count} more pods stay for these reasons; -o json shows them`;
}

/*
 * `plimsoll simulate pressure`.
 */

export function noSuchNode(wanted: string, known: readonly string[]): string {
  return `node ${wanted} not found${known.length === 0 ? '' : `; there are ${nodeList(known)}`}`;
}

export function expectedAmount(text: string): string {
  return `--available: expected a quantity such as 200Mi, got "${text}"; ${ACCEPTED_QUANTITIES}`;
}

const ACCEPTED_QUANTITIES =
  'accepted are numbers from 0, alone or with one of the suffixes k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei';

export const ADD_FIGURES = 'pass --usage to add figures of usage';

export function morePods(count: number): string {
  return `${count} more pods may be evicted after these; -o json shows them`;
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
  replaces: {
    code: 'Replaces',
    text: 'goes in against a pod that its Deployment replaces',
    facts: {},
  } satisfies Because,
  lookedAt: (count: number): string => `room is looked for only for the first ${count} pods of each list`,
};

function podCount(count: number): string {
  return count === 1 ? '1 pod' : `${count} pods`;
}
