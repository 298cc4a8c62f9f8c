import { reportedQosClass } from '#shared/domain/pod/qos.ts';
import type { Pod, PodAffinityTerm } from '#shared/domain/pod/pod.ts';
import { countsPods } from '#shared/domain/quota/charged-names.ts';
import type { TermAnswer } from './class-term.ts';
import { matchesClass } from './class-term.ts';
import type { ResourceQuota, ScopeTerm } from './resource-quota.ts';

/** The terms that a pod matches, in order, or the first that cannot be evaluated and why. */
export type MatchingTerms =
  | { readonly ok: true; readonly terms: readonly ScopeTerm[] }
  | { readonly ok: false; readonly term: ScopeTerm; readonly message: string };

/** The terms that a pod matches. `pkg/quota/v1/evaluator/core/pods.go` MatchingScopes. */
export function matchingTerms(pod: Pod, terms: readonly ScopeTerm[]): MatchingTerms {
  const met: ScopeTerm[] = [];
  for (const term of terms) {
    const answer = meetsTerm(pod, term);
    if (!answer.ok) return { ok: false, term, message: answer.message };
    if (answer.matches) met.push(term);
  }
  return { ok: true, terms: met };
}

/**
 * Whether a quota limits a pod: all its scopes match, and it limits a pod resource. A term that cannot be evaluated is
 * the answer even if another one does not match (oddity M3). `apiserver/pkg/quota/v1/generic/evaluator.go` Matches.
 */
export function matchesQuota(quota: ResourceQuota, pod: Pod): TermAnswer {
  const met = matchingTerms(pod, quota.scopes);
  if (!met.ok) return { ok: false, message: met.message };
  return { ok: true, matches: limitedEntries(quota, met.terms).length > 0 };
}

/** The pod resources that a quota limits for a pod that matches these terms; empty unless they are all its terms. */
export function limitedEntries({ hard, scopes }: ResourceQuota, met: readonly ScopeTerm[]): readonly string[] {
  return met.length === scopes.length ? [...hard.keys()].filter(countsPods) : [];
}

/** A term as Go prints it: `{PriorityClass In [high low]}`. */
export function printTerm({ scopeName, operator, values }: ScopeTerm): string {
  return `{${scopeName} ${operator} [${values.join(' ')}]}`;
}

/** Whether a pod has a deadline, even one of zero seconds (oddity M5). */
export function isTerminating({ spec }: Pod): boolean {
  return spec.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds >= 0;
}

/** podMatchesScopeFunc. Only PriorityClass looks at the operator (oddity M2). */
function meetsTerm(pod: Pod, term: ScopeTerm): TermAnswer {
  if (term.scopeName === 'PriorityClass') return matchesClass(term, pod.spec.priorityClassName);
  return { ok: true, matches: isInScope(pod, term.scopeName) };
}

/** No pod matches a scope that is not about pods (oddity M7). */
function isInScope(pod: Pod, scopeName: string): boolean {
  switch (scopeName) {
    case 'Terminating':
      return isTerminating(pod);
    case 'NotTerminating':
      return !isTerminating(pod);
    case 'BestEffort':
      return isBestEffort(pod);
    case 'NotBestEffort':
      return !isBestEffort(pod);
    case 'CrossNamespacePodAffinity':
      return looksBeyondItsNamespace(pod);
    default:
      return false;
  }
}

function isBestEffort(pod: Pod): boolean {
  return reportedQosClass(pod) === 'BestEffort';
}

function looksBeyondItsNamespace({ spec }: Pod): boolean {
  const { podAffinity, podAntiAffinity, preferredPodTerms } = spec.scheduling;
  return [podAffinity, podAntiAffinity, preferredPodTerms].some((terms) => terms.some(namesNamespaces));
}

/** Naming any namespace is enough, the pod's own included, and so is an empty selector (oddity M6). */
function namesNamespaces({ namespaces, namespaceSelector }: PodAffinityTerm): boolean {
  return namespaces.length > 0 || namespaceSelector !== undefined;
}
