import { COMPONENT_NAMES, NAMESPACE_NODE, NAMESPACE_SYSTEM, SECOND_SCHEDULER } from '#shared/kube/api-names.ts';

/** A CEL expression that must be true of a request before it is judged. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** The service account of the agents. */
export const AGENT_ACCOUNT = `system:serviceaccount:${NAMESPACE_NODE}:${COMPONENT_NAMES.agent}`;
/** Our service accounts, as the API server names them. */
export const OWN_ACCOUNTS: readonly string[] = [
  `system:serviceaccount:${NAMESPACE_SYSTEM}:${COMPONENT_NAMES.webhook}`,
  `system:serviceaccount:${NAMESPACE_SYSTEM}:${COMPONENT_NAMES.scheduler}`,
  AGENT_ACCOUNT,
];
/** Who preempts by deleting: the cluster's scheduler, and that of deploy/components/scheduler-second. */
export const SCHEDULERS: readonly string[] = [
  'system:kube-scheduler',
  `system:serviceaccount:${NAMESPACE_SYSTEM}:${SECOND_SCHEDULER}`,
];

/** A node creates mirror pods, which cannot be refused; the annotation alone, which any tenant can write, exempts no pod. */
export const NOT_A_NODE = condition('not-by-a-node', "!('system:nodes' in request.userInfo.?groups.orValue([]))");
const BY_US = `request.userInfo.?username.orValue('') in ${celList(OWN_ACCOUNTS)}`;
/** What we do ourselves. */
export const OURSELVES = condition('by-plimsoll', BY_US);
/** What others do. */
export const NOT_OURSELVES = condition('not-by-plimsoll', `!(${BY_US})`);
/** What a controller writes follows from a template that was judged when a person wrote it. */
export const NOT_A_CONTROLLER = condition(
  'not-by-a-controller',
  "!('system:serviceaccounts:kube-system' in request.userInfo.?groups.orValue([]))",
);

/** Nothing else about a class that can change means anything to a policy. */
export const DEFAULT_OR_DELETION = condition(
  'deletion-or-global-default',
  "request.operation == 'DELETE' || (has(object.globalDefault) && object.globalDefault) || " +
    "(request.operation == 'UPDATE' && has(oldObject.globalDefault) && oldObject.globalDefault)",
);

/** What one of these users does. */
export function byOneOf(users: readonly string[]): MatchCondition {
  return condition('by-a-gated-caller', `request.userInfo.username in ${celList(users)}`);
}

/** A condition with its name. */
export function condition(name: string, expression: string): MatchCondition {
  return { name, expression };
}

/** A list of texts in CEL. */
export function celList(names: readonly string[]): string {
  return `[${names.map((name) => `'${name.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`).join(', ')}]`;
}
