import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import { isManaged } from '#shared/kube/annotations/annotations.ts';
import { fieldOf } from '#shared/kube/kube-object.ts';
import { PRIORITY_POLICIES } from '#shared/kube/resource.ts';
import { type ClusterModel, decodeManifest } from '#cli/cluster/cluster-model.ts';
import { type Manifest, ofKind } from '#cli/manifests/parse-manifests.ts';
import type { Finding } from './finding.ts';
import { preemptsByQueues, preemptsPastQueues } from './messages.ts';

type Model = Pick<ClusterModel, 'namespaces' | 'pods' | 'podManifests'>;

/** By the label `app.kubernetes.io/component` of its pods: which scheduler asks each extender. */
const ASKED_BY: ReadonlyMap<string, string> = new Map([
  ['control-plane-extender', 'default-scheduler'],
  ['scheduler', 'plimsoll'],
]);

/**
 * Managed namespaces whose pods kube-scheduler may preempt others for: it goes by priority and knows no queues. An extender
 * that runs holds it to their laws; a policy that forbids preemption to everybody ends it.
 */
export function queueFindings(manifests: readonly Manifest[], model: Model): readonly Finding[] {
  const policies = ofKind(manifests, PRIORITY_POLICIES).map((each) => decodeManifest(each, decodePriorityPolicy));
  const forbidding = policies.filter(forbidsPreemption);
  const preempting = model.namespaces
    .filter(({ labels }) => isManaged(labels))
    .filter(({ labels }) => !forbidding.some((policy) => policy.namespaces.matches(labels)))
    .map(({ name }) => name)
    .toSorted();
  const isHeld = createIsHeld(model);
  const [held, open] = [preempting.filter(isHeld), preempting.filter((name) => !isHeld(name))];
  return [...(open.length > 0 ? [preemptsPastQueues(open)] : []), ...(held.length > 0 ? [preemptsByQueues(held)] : [])];
}

function forbidsPreemption({ preemption, onViolation, subjects }: PriorityPolicy): boolean {
  return preemption === 'Never' && onViolation === 'Deny' && subjects.length === 0;
}

/** Whether each scheduler of a namespace's pods has an extender that runs; without pods that of the cluster counts. */
function createIsHeld({ pods, podManifests }: Model): (namespace: string) => boolean {
  const asking = new Set(pods.filter(isRunning).map(({ labels }) => ASKED_BY.get(componentOf(labels) ?? '')));
  const schedulers = new Map<string, Set<unknown>>();
  for (const { namespace, name } of pods) {
    const spec = fieldOf(podManifests.get(`${namespace}/${name}`)?.raw, 'spec');
    const seen = schedulers.get(namespace) ?? new Set();
    schedulers.set(namespace, seen.add(fieldOf(spec, 'schedulerName') ?? 'default-scheduler'));
  }
  return (namespace) =>
    [...(schedulers.get(namespace) ?? ['default-scheduler'])].every((each) => asking.has(String(each)));
}

function isRunning({ status }: ClusterModel['pods'][number]): boolean {
  return status.phase === 'Running';
}

function componentOf(labels: ReadonlyMap<string, string>): string | undefined {
  return labels.get('app.kubernetes.io/name') === 'plimsoll' ? labels.get('app.kubernetes.io/component') : undefined;
}
