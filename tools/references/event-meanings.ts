import type { EVENT_REASONS } from '#shared/kube/api-names.ts';

/** What an Event is about, and what it means. */
export interface EventMeaning {
  readonly about: string;
  /** Warning, unless it says otherwise. */
  readonly type?: 'Normal';
  readonly meaning: string;
}

/** A new reason does not compile without a row here. */
export const EVENT_MEANINGS: Readonly<Record<keyof typeof EVENT_REASONS, EventMeaning>> = {
  waitsInQueue: {
    type: 'Normal',
    about: 'Pod',
    meaning:
      'The pod waits behind its scheduling gate, and the message says for what; at once, and after 1, 10 and 60 minutes',
  },
  reclaimed: {
    about: 'Pod',
    meaning:
      'The pod was evicted to make room for a pod whose queue is under its guarantee; its own queue was over its guarantee',
  },
  noRoomReclaimed: {
    type: 'Normal',
    about: 'Pod',
    meaning: 'No node has room for the pod, and no other pods make room for it; the message says why',
  },
  gangGoesBack: {
    about: 'Pod',
    meaning:
      'Fewer pods of the gang than run together have had a node for longer than gangTimeout: they are evicted, or the message says what keeps them',
  },
  thresholdMet: { about: 'Node', meaning: 'A threshold is met, and the agent evicts a pod to get the resource back' },
  evicted: { about: 'Pod', meaning: 'The agent evicted the pod' },
  cpuLimitLowered: {
    type: 'Normal',
    about: 'Pod',
    meaning:
      'The node is short of CPU, and the pod uses more than it requests: the agent lowered its CPU limit, or in a dry run would',
  },
  cpuLimitRestored: {
    type: 'Normal',
    about: 'Pod',
    meaning: 'The pod has the CPU limit again that it had before the agent lowered it; the message says why',
  },
  cpuLimitNotRestored: {
    about: 'Pod',
    meaning: 'The old CPU limit of the pod was refused, for example by a LimitRange; the agent tries again',
  },
  preempted: { about: 'Pod', meaning: 'kube-scheduler removed the pod for one of higher priority' },
  evictionFailed: {
    about: 'Pod',
    meaning:
      'The pod was chosen for eviction and stays: the API server refused, a limit is reached, or it is protected',
  },
  evictionDryRun: {
    type: 'Normal',
    about: 'Pod',
    meaning:
      'In a dry run, the agent would evict the pod, or could not: the API server was asked with dryRun=All, and the message says what it answered',
  },
  evictionIneffective: {
    about: 'Node',
    meaning: 'The last evictions brought no relief, so the agent stops evicting for a while',
  },
  nodeContested: {
    about: 'Node',
    meaning:
      'Another controller undoes a taint or a condition of Plimsoll again and again; it is written less and less often, up to every 10 minutes',
  },
  evictionLoop: {
    about: 'Node',
    meaning: 'Pods of one owner return to the node and are evicted again; the node is avoided for an hour',
  },
  preemptionLoop: {
    about: 'Pod',
    meaning:
      'Preempting for this pending pod would continue a loop of two owners; it is refused, or in a dry run only reported',
  },
  preemptionRefused: {
    about: 'Pod',
    meaning: 'kube-scheduler tried to preempt a pod that opted out, or finds no others for a pending pod',
  },
  policyViolated: { about: 'PriorityPolicy', meaning: 'The policy refused a pod or a template' },
  namespaceLeftQuota: {
    about: 'PriorityQuota',
    meaning: 'A namespace that the quota was in force in has lost its labels, for example because it was created again',
  },
  policyConflict: { about: 'PriorityPolicy', meaning: 'Two policies began to conflict for the same pods' },
  quotaExceeded: { about: 'ResourceQuota or PriorityQuota', meaning: 'A pod did not fit into the quota' },
  rescheduled: {
    type: 'Normal',
    about: 'ReschedulingPolicy',
    meaning: 'A pass evicted pods because kube-scheduler would place them better; its status names them',
  },
  reschedulingDryRun: {
    type: 'Normal',
    about: 'ReschedulingPolicy',
    meaning: 'In a dry run, a pass would evict pods because kube-scheduler would place them better',
  },
  severalDefaults: { about: 'PriorityClass', meaning: 'A second priority class became the global default' },
};
