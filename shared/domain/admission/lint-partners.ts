import { prepareTerms, selectsPod, termSize, type AffinityTerm } from '#shared/domain/model/affinity-term.ts';
import type { Pod, PodAffinityTerm } from '#shared/domain/model/pod.ts';
import { createWorkLimit } from '#shared/domain/model/work-limit.ts';
import type { AdmissionWorld } from './admission-world.ts';
import { listSome } from './list-some.ts';
import type { PodRequest } from './pod-request.ts';

const NO_LABELS: ReadonlyMap<string, string> = new Map();
const ENDED: readonly (string | undefined)[] = ['Succeeded', 'Failed'];
/** Comparisons of a label with a requirement: some milliseconds. */
const MOST_WORK = 20_000;
/** The API server shows no more than 4 KiB of warnings. */
const MOST_WARNINGS = 8;

/**
 * A pod that must run beside pods of lower priority: the scheduler makes no room for it where those run, because
 * without them the node would no longer do (S1-20). Preferred affinity keeps nobody waiting. Only known pods are told,
 * and only what is found within a limit of work.
 */
export function lintPartners({ pod }: PodRequest, world: AdmissionWorld): readonly string[] {
  const known = world.knownPods.pods.length;
  if (known === 0) return [];
  const warnings: string[] = [];
  const limit = createWorkLimit(MOST_WORK);
  for (const [index, term] of pod.spec.scheduling.podAffinity.entries()) {
    if (warnings.length === MOST_WARNINGS || !limit.take((1 + termSize(term)) * (1 + known))) break;
    warnings.push(...lintTerm(pod, index, term, world));
  }
  return warnings;
}

function lintTerm(pod: Pod, index: number, term: PodAffinityTerm, world: AdmissionWorld): readonly string[] {
  const { priority = 0 } = pod.spec;
  const partners = prepareTerms(pod, [term]).flatMap((prepared) => partnersOf(prepared, world));
  const lower = partners.filter(({ spec }) => (spec.priority ?? 0) < priority);
  if (lower.length === 0) return [];
  const path = `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[${index}]`;
  const described = describePartners(lower, pod.namespace, world.knownPods.isPartial);
  return [
    `${path}: of the pods that this one (priority ${priority}) must run beside, these have a lower priority: ${described}; no room is made for it by preempting them, and where they are preempted by others it cannot be placed`,
  ];
}

function partnersOf(term: AffinityTerm, { knownPods, namespaceLabels }: AdmissionWorld): readonly Pod[] {
  return knownPods.pods.filter(
    (pod) => !ENDED.includes(pod.status.phase) && selectsPod(term, pod, namespaceLabels(pod.namespace) ?? NO_LABELS),
  );
}

/** Pods of other namespaces are only counted: whoever asks may have no right to read them. */
function describePartners(lower: readonly Pod[], namespace: string, isPartial: boolean): string {
  const own = lower.filter((pod) => pod.namespace === namespace).map(describe);
  const others = lower.length - own.length;
  const counted = `${isPartial ? 'at least ' : ''}${others} in other namespaces`;
  return [...(own.length > 0 ? [listSome(own, isPartial)] : []), ...(others > 0 ? [counted] : [])].join(', ');
}

function describe({ name, spec }: Pod): string {
  return `\`${name}\` (${spec.priority ?? 0})`;
}
