import { prepareTerms, selectsPod, type AffinityTerm } from '#shared/domain/model/affinity-term.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import type { AdmissionWorld } from './admission-world.ts';
import { listSome } from './list-some.ts';
import type { PodRequest } from './pod-request.ts';

const NO_LABELS: ReadonlyMap<string, string> = new Map();
const ENDED: readonly (string | undefined)[] = ['Succeeded', 'Failed'];

/**
 * A pod that must run beside pods of lower priority: the scheduler makes no room for it where those run, because
 * without them the node would no longer do (S1-20). Preferred affinity keeps nobody waiting. Only known pods are told.
 */
export function lintPartners({ pod }: PodRequest, world: AdmissionWorld): readonly string[] {
  const { priority = 0, scheduling } = pod.spec;
  return prepareTerms(pod, scheduling.podAffinity).flatMap((term, index) => {
    const partners = partnersOf(term, world);
    const lower = partners.filter(({ spec }) => (spec.priority ?? 0) < priority);
    if (lower.length === 0) return [];
    const path = `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[${index}]`;
    const names = listSome(lower.map(describe), world.knownPods.isPartial);
    return [
      `${path}: of the pods that this one (priority ${priority}) must run beside, these have a lower priority: ${names}; no room is made for it by preempting them, and where they are preempted by others it cannot be placed`,
    ];
  });
}

function partnersOf(term: AffinityTerm, { knownPods, namespaceLabels }: AdmissionWorld): readonly Pod[] {
  return knownPods.pods.filter(
    (pod) => !ENDED.includes(pod.status.phase) && selectsPod(term, pod, namespaceLabels(pod.namespace) ?? NO_LABELS),
  );
}

function describe({ namespace, name, spec }: Pod): string {
  return `\`${namespace}/${name}\` (${spec.priority ?? 0})`;
}
