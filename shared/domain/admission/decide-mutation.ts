import { PHRASES } from './messages/wording.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { resolvePriority, severalDefaults } from '#shared/domain/priority/priority-class.ts';
import type { ClusterState } from './cluster-state.ts';
import {
  chooseClass,
  type ClassChoice,
  chooseNodes,
  type NodeChoice,
  chooseScheduler,
  ruleToRecord,
  type SchedulerChoice,
  policiesFor,
} from './choose-fields.ts';
import { allow, refuse, type AdmissionDecision, type PriorityFields, reasonOf } from './decision.ts';
import { MESSAGES } from './messages.ts';
import type { PodRequest } from './request.ts';
import { priorityRefusal } from './pod-rules.ts';

/**
 * Decides a new pod's class, priority and preemption policy, the rule to record for them, its scheduler if a policy
 * names one, and the nodes to keep it away from. A pod with contradictory fields is refused as the API server would
 * refuse it. Whether its class is allowed is decided later, on the final pod, in the validating phase.
 */
export function decideMutation(request: PodRequest, cluster: ClusterState): AdmissionDecision {
  const resolved = resolvePriority(request.pod, cluster.classes);
  if (resolved.kind === 'refused') return refuse(403, priorityRefusal(request.pod, resolved, cluster.classes));
  const policies = policiesFor(request, cluster);
  const choice = chooseClass(request, policies, cluster.classes);
  const scheduler = chooseScheduler(request, policies);
  const nodes = chooseNodes(request, cluster.avoidedBy);
  const rule = ruleToRecord(request, choice, policies, cluster.classes);
  const reason = withNodes(withScheduler(reasonFor(choice), scheduler), nodes);
  const warning = choice.source === 'globalDefault' ? severalDefaults(cluster.classes) : undefined;
  const accepted = allow(reason, warning === undefined ? [] : [warning]);
  const additions = {
    ...(rule !== request.recordedRule && { classRule: rule ?? '' }),
    ...(scheduler && { schedulerName: scheduler.schedulerName }),
    ...(nodes && { avoidNodes: nodes.nodes }),
  };
  const isComplete = Object.keys(additions).length === 0 && hasFields(request, choice.fields);
  return isComplete ? accepted : { ...accepted, change: { ...choice.fields, ...additions } };
}

function hasFields({ pod }: PodRequest, fields: PriorityFields): boolean {
  const { priorityClassName = '', priority, preemptionPolicy } = pod.spec;
  return (
    priorityClassName === fields.priorityClassName &&
    priority === fields.priority &&
    preemptionPolicy === fields.preemptionPolicy
  );
}

function reasonFor({ source, policy = '', rule = policy, fields }: ClassChoice): Because {
  const facts = { ...fields };
  switch (source) {
    case 'pod':
      return reasonOf(MESSAGES.podUsesClass, fields, facts);
    case 'policy':
      return rule === policy
        ? reasonOf(MESSAGES.classOfPolicy, { ...fields, policy }, facts)
        : reasonOf(MESSAGES.classOfRule, { ...fields, rule }, { ...facts, rule });
    case 'globalDefault':
      return reasonOf(MESSAGES.classIsGlobalDefault, fields, facts);
    case 'substitute':
      return reasonOf(MESSAGES.classReplaced, { ...fields, policy }, facts);
    case 'none':
      return reasonOf(MESSAGES.noClass, {}, facts);
  }
}

function withScheduler(reason: Because, choice: SchedulerChoice | undefined): Because {
  if (choice === undefined) return reason;
  const { policy, schedulerName } = choice;
  const text = reason.text + PHRASES.schedulerOfPolicy(policy, schedulerName);
  return { ...reason, text, facts: { ...reason.facts, schedulerName } };
}

function withNodes(reason: Because, choice: NodeChoice | undefined): Because {
  if (choice === undefined) return reason;
  return { ...reason, text: reason.text + PHRASES.keptAwayFrom(choice.nodes, choice.owner) };
}
