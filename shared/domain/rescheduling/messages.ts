import { reason } from '#shared/domain/base/because.ts';

/* Every sentence of the rescheduler's decisions. None of them is a promise (S3-38). */

interface OfNode {
  readonly node: string;
}
interface OfTaint extends OfNode {
  readonly taint: string;
}
interface OfUse {
  readonly resource: string;
  readonly used: string;
  readonly requested: string;
}
interface OfOwner {
  readonly owner: string;
}

interface OfLoad extends OfNode {
  readonly resource: string;
  readonly load: number;
  readonly target: number;
  readonly by: string;
}

const points = (value: number): string => value.toFixed(2);
const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;

export const REASONS = {
  nodeNotSelected: reason('NodeNotSelected', (f: OfNode) => `node ${f.node} is not selected by the policy`),
  nodeCordoned: reason('NodeCordoned', (f: OfNode) => `node ${f.node} is cordoned`),
  nodeNotReady: reason('NodeNotReady', (f: OfNode) => `node ${f.node} is not ready`),
  nodeEmptied: reason('NodeEmptied', (f: OfTaint) => `node ${f.node} is being emptied by an autoscaler: ${f.taint}`),
  nodeTainted: reason('NodeTainted', (f: OfTaint) => `node ${f.node} has the taint ${f.taint}`),
  nodeUnderPressure: reason('NodeUnderPressure', (f: OfNode) => `node ${f.node} is under pressure`),

  noController: reason('NoController', () => 'the pod has no controller that would replace it'),
  daemonSet: reason('DaemonSet', () => 'the pod belongs to a DaemonSet, which runs it on this node'),
  endingPod: reason(
    'RunsToCompletion',
    (f: OfOwner) => `the pod runs to its end for ${f.owner}, which counts its removal as a failure`,
  ),
  virtualMachine: reason(
    'VirtualMachine',
    (f: OfOwner) => `the pod is the virtual machine of ${f.owner}, which KubeVirt moves`,
  ),
  localVolume: reason('LocalVolume', (f: { readonly volume: string }) => `volume ${f.volume} is local to the node`),
  notSeenToFit: reason(
    'NotSeenToFit',
    (f: { readonly need: string }) => `${f.need} is not modelled, so it is unknown whether another node fits`,
  ),
  severalBudgets: reason(
    'SeveralBudgets',
    (f: { readonly budgets: string }) => `several PodDisruptionBudgets select the pod: ${f.budgets}`,
  ),

  budgetUnsettled: reason(
    'BudgetUnsettled',
    (f: { readonly budget: string }) => `the status of PodDisruptionBudget ${f.budget} is not usable yet`,
  ),

  lastReadyReplica: reason('LastReadyReplica', (f: OfOwner) => `it is the last ready pod of ${f.owner}`),
  ownerWindow: reason(
    'OwnerWindow',
    (f: OfOwner & { readonly recent: number; readonly most: number }) =>
      `${f.recent} pods of ${f.owner} are new, terminating or not yet replaced; at most ${f.most} may be at a time`,
  ),
  ownerWaits: reason(
    'ReplacementPending',
    (f: OfOwner) => `the replacement of a pod of ${f.owner} that was moved is not placed yet`,
  ),
  ownerStopped: reason('SchedulerDisagrees', (f: { readonly text: string }) => f.text),
  budgetSpent: reason(
    'BudgetExhausted',
    (f: { readonly budget: string; readonly allowed: number; readonly unused: number }) =>
      `PodDisruptionBudget ${f.budget} allows ${f.allowed} disruptions, of which ${f.unused} are left unused`,
  ),
  limitReached: reason(
    'LimitReached',
    (f: { readonly limit: string; readonly left: number }) => `${f.limit} has ${f.left} disruptions left`,
  ),
  passLimit: reason('PassLimit', (f: { readonly most: number }) => `the pass made its ${f.most} moves`),
  relatedMove: reason(
    'RelatedMove',
    (f: { readonly pod: string }) => `where it fits depends on pod ${f.pod}, which this pass moves`,
  ),
  notExamined: reason('NotExamined', () => 'the pass examined as many pods as it may; a later one continues'),

  fitsNowhere: reason('FitsNowhere', (f: { readonly reasons: string }) => `no other node fits: ${f.reasons}`),
  stayPut: reason('SchedulerWouldReturnIt', (f: OfNode) => `kube-scheduler would place it on node ${f.node} again`),
  targetClosed: reason(
    'TargetClosed',
    (f: OfNode & { readonly why: string }) => `kube-scheduler would place it on node ${f.node}, but ${f.why}`,
  ),
  formerNode: reason(
    'FormerNode',
    (f: OfNode & OfOwner) =>
      `kube-scheduler would place it on node ${f.node}, from which a pod of ${f.owner} was moved`,
  ),
  harmfulNode: reason(
    'HarmfulNode',
    (f: OfNode & OfOwner) => `kube-scheduler would place it on node ${f.node}, where pods of ${f.owner} fail`,
  ),
  overTarget: reason(
    'TargetOverloaded',
    (f: OfNode & { readonly resource: string; readonly load: number }) =>
      `node ${f.node} would be at ${percent(f.load)} of ${f.resource}, above its target`,
  ),
  losesPreference: reason(
    'LosesPreference',
    (f: OfNode) => `kube-scheduler would place it on node ${f.node}, which it prefers less`,
  ),
  littleGain: reason(
    'LittleGain',
    (f: OfNode & { readonly gain: number; readonly least: number }) =>
      `on node ${f.node} it would gain ${points(f.gain)} points; ${points(f.least)} are needed`,
  ),
  noNodeIsLow: reason('NoNodeIsLow', () => 'no node is low in every resource'),
  fewLowReadings: reason(
    'FewLowReadings',
    (f: { readonly readings: number; readonly needed: number }) =>
      `some node was low in ${f.readings} readings in succession; ${f.needed} are needed`,
  ),
  fewReadings: reason(
    'FewReadings',
    (f: { readonly readings: number; readonly needed: number }) =>
      `it was above its target in ${f.readings} readings in succession; ${f.needed} are needed`,
  ),
  notNeeded: reason('NotNeeded', () => 'no policy has a reason to move it'),

  overloaded: reason(
    'NodeOverTarget',
    (f: OfLoad) =>
      `node ${f.node} is at ${percent(f.load)} of ${f.resource} by ${f.by}, above its target of ${f.target}%`,
  ),
  filled: reason(
    'NodeFilledByMoves',
    (f: OfLoad) =>
      `moves for rules and preferences filled node ${f.node} to ${percent(f.load)} of ${f.resource} by ${f.by}; the mean is ${f.target}%`,
  ),
  requiredBroken: reason(
    'RequiredAffinityBroken',
    (f: OfNode) => `node ${f.node} does not match its node selector or required node affinity`,
  ),
  antiAffinityBroken: reason(
    'AntiAffinityBroken',
    (f: OfNode & { readonly other: string }) => `its required anti-affinity forbids pod ${f.other} next to it`,
  ),
  spreadBroken: reason(
    'SpreadBroken',
    (f: { readonly key: string; readonly skew: number; readonly most: number }) =>
      `the skew over ${f.key} is ${f.skew}, more than ${f.most}`,
  ),
  preferredUnmet: reason(
    'PreferredAffinityUnmet',
    (f: OfNode & { readonly weight: number; readonly best: number }) =>
      `node ${f.node} meets ${f.weight} of its preferred node affinity, other nodes ${f.best}`,
  ),
  victim: reason(
    'BadServiceVictim',
    (f: OfNode & { readonly fails: string }) => `victim on node ${f.node}: the pod ${f.fails}`,
  ),
  aggressor: reason(
    'BadServiceAggressor',
    (f: OfNode & OfUse & { readonly other: string; readonly fails: string }) =>
      `aggressor on node ${f.node}: the pod uses ${f.used} of ${f.resource} and requests ${f.requested}, while pod ${f.other} ${f.fails}`,
  ),
  noAggressor: reason(
    'NoAggressor',
    (f: OfNode & { readonly resource: string; readonly fails: string }) =>
      `the pod ${f.fails}, but no pod on node ${f.node} is known to use more ${f.resource} than it requests`,
  ),
  aggressorStays: reason(
    'AggressorStays',
    (f: { readonly pod: string; readonly fails: string; readonly why: string }) =>
      `the pod ${f.fails}, and pod ${f.pod} uses more than it requests, but stays: ${f.why}`,
  ),
  ownLimit: reason(
    'OwnLimit',
    (f: { readonly fails: string }) => `the pod ${f.fails} and has a memory limit, so no other pod is blamed`,
  ),
  nodeSettles: reason(
    'NodeSettles',
    (f: OfNode & { readonly minutes: number }) =>
      `a pod was moved off node ${f.node} for using too much less than ${f.minutes} minutes ago`,
  ),
  refused: reason(
    'PodsRefused',
    (f: OfNode & { readonly count: number; readonly most: number; readonly why: string }) =>
      `the kubelet of node ${f.node} refused ${f.count} of its pods within an hour (limit ${f.most}): ${f.why}`,
  ),
} as const;

/** How a pod fails, as the end of a sentence about it. */
export const FAILS = {
  restarts: (count: number, limit: number) => `restarted ${count} times (limit ${limit})`,
  oomKills: (count: number, limit: number) => `was killed for memory ${count} times (limit ${limit})`,
  stalls: (percent: number, limit: number, resource: string) =>
    `waits for ${resource} ${percent}% of the time (limit ${limit}%)`,
} as const;
