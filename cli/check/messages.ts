import { AGENT_ACCOUNT } from '#shared/kube/admission/cel-expressions.ts';
import { NAMESPACE_NODE, NAMESPACE_SYSTEM } from '#shared/kube/api-names.ts';
import { error, type Finding, listed, ok, warning } from './finding.ts';

/*
 * Every sentence of `plimsoll check`, to be read from top to bottom.
 */

export function workloadMissing(kind: string, namespace: string, name: string): Finding {
  const next = 'install it (docs/guides/install.md); most of what follows comes from that';
  return error('installation', `${kind} ${name} is missing in namespace ${namespace}`, next);
}

export function processFails(component: string, fault: string, namespace: string, pods: readonly string[]): Finding {
  const next = `kubectl -n ${namespace} describe pod ${pods[0] ?? ''}, and its logs with --previous`;
  return error('processes', `${component} does not run in ${listed(pods, 'pods')} (${fault})`, next);
}

export function noneReady(component: string, namespace: string): Finding {
  const next = `kubectl -n ${namespace} get pods -l app.kubernetes.io/component=${component}`;
  return error('processes', `no pod of ${component} is ready, so its Services have no endpoints`, next);
}

export function someNotReady(component: string, namespace: string, pods: readonly string[]): Finding {
  const next = `kubectl -n ${namespace} describe pod ${pods[0] ?? ''}`;
  return warning('processes', `${component} is not ready in ${listed(pods, 'pods')}`, next);
}

export function imagesDiffer(images: readonly string[]): Finding {
  const next = 'finish the upgrade: kubectl rollout status of each Deployment and of the DaemonSet';
  return warning('versions', `processes run different images: ${listed(images, 'images')}`, next);
}

export function definitionMissing(name: string): Finding {
  return error(name, 'the CustomResourceDefinition is missing', 'kubectl apply --server-side -k deploy/crds');
}

export function definitionsThere(count: number): Finding {
  return ok('definitions', `all ${count} CustomResourceDefinitions are there`);
}

export function webhookMissing(kind: string): Finding {
  const next = `see that the webhook runs: kubectl -n ${NAMESPACE_SYSTEM} get deployments`;
  return error(kind, 'the webhook is not registered: classes and quotas are not enforced by it', next);
}

export function webhookRegistered(kind: string, entries: number): Finding {
  return ok(kind, entries === 1 ? '1 entry is registered' : `${entries} entries are registered`);
}

export function modeWebhook(): Finding {
  const why = 'the API server sets no defaults itself, because defaults.plimsoll.dev is not installed';
  return ok('admission', `mode Webhook: the webhook reviews every new pod; ${why}`);
}

export function modeBoth(): Finding {
  const why = 'defaults.plimsoll.dev is installed, and the compiled rules are current and complete';
  return ok(
    'admission',
    `mode Both: the webhook reviews only the new pods that the API server does not handle; ${why}`,
  );
}

export function modeInProcess(): Finding {
  const why = 'defaults.plimsoll.dev is installed, and the webhook has no entries for pods';
  return ok('admission', `mode InProcess: the API server alone handles new pods, except for quotas; ${why}`);
}

export function stillAskedAboutAll(): Finding {
  const next =
    'see kubectl get priorityrules, the condition EnforcedByAPIServer of each PriorityPolicy, and the log of the webhook; there may be at most 64 priority classes';
  return warning('admission', 'mode Both, but the webhook still reviews every new pod', next);
}

export function stillLeftOut(): Finding {
  const next = `see that a replica of the webhook leads: kubectl -n ${NAMESPACE_SYSTEM} get lease plimsoll-webhook`;
  return error('admission', 'the webhook does not review every new pod, but defaults.plimsoll.dev is missing', next);
}

export function nobodyGivesDefaults(): Finding {
  const next = 'apply deploy/components/api-server-defaults, or register the entries for pods again';
  return error('admission', 'the webhook has no entries for pods, and defaults.plimsoll.dev is missing', next);
}

export function authorityUnreadable(kind: string, entry: string): Finding {
  const next = 'see the log of the webhook, and docs/guides/webhook-certificates.md';
  return error(kind, `entry ${entry} has no readable certificate authority`, next);
}

export function authorityExpires(kind: string, entry: string, days: number): Finding {
  const text = days < 0 ? `expired ${-days} days ago` : `expires in ${days} days`;
  const next = 'restart the webhook, or renew the certificate as docs/guides/webhook-certificates.md says';
  return (days < 0 ? error : warning)(kind, `the certificate authority of entry ${entry} ${text}`, next);
}

export function agentMissing(nodes: readonly string[]): Finding {
  const next = `kubectl -n ${NAMESPACE_NODE} get pods -o wide, and compare the tolerations of the DaemonSet with their taints`;
  return error('agents', `no agent has reported from ${listed(nodes)}`, next);
}

export function agentSilent(nodes: readonly string[]): Finding {
  const next = `kubectl -n ${NAMESPACE_NODE} logs daemonset/plimsoll-agent, for the pods on these nodes`;
  return error('agents', `the agent has not reported for minutes from ${listed(nodes)}`, next);
}

export function agentsReport(count: number): Finding {
  return ok('agents', count === 1 ? '1 node reports' : `${count} nodes report`);
}

export function agentsDiffer(versions: readonly { readonly version: string; readonly count: number }[]): Finding {
  const next = `kubectl -n ${NAMESPACE_NODE} rollout status daemonset/plimsoll-agent`;
  const counts = versions.map(({ version, count }) => `${version} (${count === 1 ? '1 node' : `${count} nodes`})`);
  return warning('versions', `agents have different versions: ${listed(counts, 'versions')}`, next);
}

export function agentsHaveOtherVersion(agents: string, own: string): Finding {
  const next = 'use the plimsoll of the same version: its answers are those of agents of its own version';
  return warning('versions', `the agents have version ${agents}, this plimsoll has ${own}`, next);
}

export function preemptionDisabled(where: string, profile: string): Finding {
  const next = 'enable the plugin DefaultPreemption again: critical pods depend on it when nodes are full';
  return warning('scheduler', `preemption is disabled for profile ${profile} in ${where}`, next);
}

export function classFarAbove(workload: string, own: string, usual: string): Finding {
  const next = 'see whether it needs that class; plimsoll explain pod shows what follows from it';
  return warning('classes', `${workload} has priority class ${own}, most of its namespace has ${usual}`, next);
}

export function budgetsForbidEverything(budgets: readonly string[]): Finding {
  return warning(
    'budgets',
    `these PodDisruptionBudgets forbid every eviction, so drains never finish: ${listed(budgets, 'budgets')}`,
    'let each allow at least one eviction; forbiddingBudgets of the DisruptionPolicy can warn about such budgets or refuse them',
  );
}

interface SumOfQuotas {
  readonly resource: string;
  readonly allowed: string;
  readonly allocatable: string;
  readonly quotas: readonly string[];
}

export function quotasAboveNodes({ resource, allowed, allocatable, quotas }: SumOfQuotas): Finding {
  const text = `quotas of the highest priority allow ${allowed} of ${resource} in total; the nodes have ${allocatable} (${listed(quotas, 'quotas')})`;
  return warning('quotas', text, 'lower these quotas or add nodes: not every pod within its quota can run');
}

export function quotasOvercommit({ resource, allowed, allocatable }: SumOfQuotas): Finding {
  return ok(
    'quotas',
    `overcommitted: quotas of all priorities allow ${allowed} of ${resource} in total; the nodes have ${allocatable}`,
  );
}

export function quotasWithinNodes(quotas: number): Finding {
  return ok('quotas', `the nodes have what the quotas by priority (${quotas}) allow in total`);
}

export function preemptsPastQueues(namespaces: readonly string[]): Finding {
  const text =
    'kube-scheduler itself preempts by priority alone, past the guarantees and fences of queues, for pods of the managed namespaces';
  const next =
    'run the extender, which makes kube-scheduler respect queues; without it give all pods of managed namespaces one priority, or forbid preemption with a PriorityPolicy (preemption: Never), by which they reclaim no room either';
  return warning('queues', `${text} ${listed(namespaces, 'namespaces')}`, next);
}

export function preemptsByQueues(namespaces: readonly string[]): Finding {
  const text =
    'the extender holds preemptions by kube-scheduler to the guarantees and fences of queues, if the configuration of kube-scheduler names it, for pods of the managed namespaces';
  return ok('queues', `${text} ${listed(namespaces, 'namespaces')}`);
}

export function noStalls(nodes: readonly string[]): Finding {
  const next =
    'add psi=1 to the kernel command line, and use cgroup v2; until then rules for stalls have no effect there';
  return warning('nodes', `no pressure stall information (PSI) from ${listed(nodes)}`, next);
}

/** A condition of objects of one kind, as they give it themselves. */
export function conditionTells(
  { kind, type, status, reason, message }: Readonly<Record<'kind' | 'type' | 'status' | 'reason' | 'message', string>>,
  names: readonly string[],
): Finding {
  const text = `${type} is ${status} (${reason}): ${message}`;
  return warning(
    `${kind} ${listed(names, 'objects')}`,
    text,
    `kubectl describe ${kind.toLowerCase()} ${names[0] ?? ''}`,
  );
}

export function sourcesDisagree(nodes: readonly string[], example: string): Finding {
  const next = 'docs/runbook.md#plimsollsourcesdisagree has the usual causes';
  const text = `memory figures contradict each other, so no pod is evicted for memory on ${listed(nodes)}`;
  return error('sources', `${text} (${example})`, next);
}

export function podsDisagree(nodes: readonly string[], example: string): Finding {
  const next = 'for these pods the agent ranks by the smaller figure; see that the kubelet answers';
  return warning('sources', `memory figures of pods contradict each other on ${listed(nodes)} (${example})`, next);
}

export function fellBack(nodes: readonly string[], example: string): Finding {
  const next =
    'evictions come later with figures of the kubelet; check the mounts /host/proc and /host/sys/fs/cgroup of the agent';
  return warning('sources', `the agent fell back to the kubelet's figures on ${listed(nodes)} (${example})`, next);
}

export function sourcesNotCompared(nodes: readonly string[], example: string): Finding {
  const next = 'see that the agent may read nodes/stats, and that the kubelet answers';
  return warning('sources', `memory figures cannot be compared on ${listed(nodes)} (${example})`, next);
}

export function daemonSetBelowTop(owner: string): Finding {
  const next = 'give it the priority class system-node-critical, or a full node keeps its pods out';
  return warning('classes', `${owner} runs on every node with less than the highest priority`, next);
}

export function judgesEvictions(webhook: string): Finding {
  const next = `see that it allows the evictions of ${AGENT_ACCOUNT}`;
  return warning('webhooks', `${webhook} reviews evictions and may refuse those of the agents`, next);
}

export function judgesOwnPods(webhook: string): Finding {
  const next = `leave ${NAMESPACE_SYSTEM} and ${NAMESPACE_NODE} out of its namespaceSelector`;
  return warning('webhooks', `${webhook} fails closed for pods of Plimsoll: while it is down they do not start`, next);
}

export function changesClasses(webhook: string): Finding {
  const next = 'see that it sets no priority class: pods whose class it changes are refused';
  return warning('webhooks', `${webhook} may change pods after Plimsoll has set their priority`, next);
}

/** `asked` is one of the rights, as kubectl auth can-i takes it. */
export function rightsMissing(account: string, rights: string, asked: string): Finding {
  const next = `kubectl auth can-i ${asked} --as=${account}; apply the manifests of this version again`;
  return error('rights', `${account} may not ${rights}`, next);
}

export function formerDeploymentsLeft(names: readonly string[]): Finding {
  const next = `when deployment plimsoll-controller is ready: kubectl -n ${NAMESPACE_SYSTEM} delete deployments ${names.join(' ')}`;
  return warning('controller', `Deployments of an earlier version still lead their parts: ${names.join(', ')}`, next);
}

export function rightsThere(count: number): Finding {
  return ok('rights', `service accounts have all ${count} required permissions`);
}

export function rightsUnknown(cause: string): Finding {
  const next = 'run the command as a user who may create subjectaccessreviews';
  return warning('rights', `cannot check the rights of the accounts: ${cause}`, next);
}

export function kindUnread(resource: string, cause: string): Finding {
  const next = 'run the command as a user who may list them: what depends on them was not checked';
  return error('caller', `you may not list ${resource}: ${cause}`, next);
}

export function kindNotInSnapshot(resource: string): Finding {
  const next = 'take the snapshot as a user who may list them: what depends on them was not checked';
  return error('snapshot', `the snapshot does not contain ${resource}: its author may not list them`, next);
}

export function oldControlGroups(nodes: readonly string[]): Finding {
  const next =
    'use cgroup v2: without it no stalls (PSI) of pods are measured, and by default a kubelet of 1.35 or newer does not start';
  return warning('nodes', `cgroup v1 on ${listed(nodes)}`, next);
}

export function kubeletUnasked(node: string, cause: string): Finding {
  const next = 'check it on the node: stat -fc %T /sys/fs/cgroup prints cgroup2fs for cgroup v2';
  return warning('nodes', `cannot read the cgroup version of node ${node} from its kubelet: ${cause}`, next);
}

export function controlGroupsFine(count: number): Finding {
  return ok('nodes', `cgroup v2 on ${count === 1 ? '1 node' : `${count} nodes`}`);
}
