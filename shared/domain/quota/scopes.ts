import type { Pod } from '#shared/domain/model/pod.ts';
import { reportedQosClass } from '#shared/domain/model/qos.ts';
import { classSelector } from './class-selector.ts';
import { podResources } from './pod-resources.ts';
import type { ResourceQuota, ScopeTerm } from './resource-quota.ts';

/** An answer, or why there is none; `term` is the one that could not be evaluated. */
export type ScopeMatch =
  | { readonly kind: 'evaluated'; readonly matches: boolean }
  | { readonly kind: 'fault'; readonly term: ScopeTerm; readonly message: string };

/** The terms that match a pod, or the fault of the first that cannot be evaluated. */
export type MatchingScopes =
  | { readonly kind: 'evaluated'; readonly terms: readonly ScopeTerm[] }
  | { readonly kind: 'fault'; readonly term: ScopeTerm; readonly message: string };

/**
 * Whether a quota concerns a pod: all its scopes hold and it limits something that pods are charged for. A fault in
 * any scope stands, also after one that does not hold (oddity M3). apiserver `pkg/quota/v1/generic/evaluator.go` Matches.
 */
export function matchesQuota(quota: ResourceQuota, pod: Pod): ScopeMatch {
  const found = matchingScopes(quota.scopes, pod);
  if (found.kind === 'fault') return found;
  return evaluated(concernedResources(quota, found.terms).length > 0);
}

/** What a quota limits of a pod that these of its terms match: nothing unless all of them do. */
export function concernedResources(quota: ResourceQuota, matching: readonly ScopeTerm[]): readonly string[] {
  return matching.length === quota.scopes.length ? podResources(quota.hard.keys()) : [];
}

/** Those of the terms that hold for a pod. `pkg/quota/v1/evaluator/core/pods.go` MatchingScopes. */
export function matchingScopes(terms: readonly ScopeTerm[], pod: Pod): MatchingScopes {
  const matching: ScopeTerm[] = [];
  for (const term of terms) {
    const match = matchesScope(term, pod);
    if (match.kind === 'fault') return match;
    if (match.matches) matching.push(term);
  }
  return { kind: 'evaluated', terms: matching };
}

/** A scope term as Go prints it with `%v`. */
export function scopeText({ scopeName, operator, values }: ScopeTerm): string {
  return `{${scopeName} ${operator} [${values.join(' ')}]}`;
}

/** Whether a pod has a deadline; 0 is one (oddity M5). */
export function isTerminating(pod: Pod): boolean {
  return pod.spec.activeDeadlineSeconds !== undefined && pod.spec.activeDeadlineSeconds >= 0;
}

/** Only PriorityClass looks at the operator (oddity M2). `pkg/quota/v1/evaluator/core/pods.go` podMatchesScopeFunc. */
function matchesScope(term: ScopeTerm, pod: Pod): ScopeMatch {
  switch (term.scopeName) {
    case 'Terminating':
      return evaluated(isTerminating(pod));
    case 'NotTerminating':
      return evaluated(!isTerminating(pod));
    case 'BestEffort':
      return evaluated(isBestEffort(pod));
    case 'NotBestEffort':
      return evaluated(!isBestEffort(pod));
    case 'CrossNamespacePodAffinity':
      return evaluated(usesCrossNamespaceAffinity(pod));
    case 'PriorityClass':
      return matchesClass(term, pod.spec.priorityClassName);
    default:
      return evaluated(false);
  }
}

/** `Exists` ignores values, so that faulty ones do no harm (oddity M3). */
function matchesClass(term: ScopeTerm, className: string | undefined): ScopeMatch {
  if (term.operator === 'Exists') return evaluated(className !== undefined);
  const selector = classSelector(term);
  if (selector.kind === 'selector') return evaluated(selector.matches(className));
  return { kind: 'fault', term, message: `failed to parse and convert selector: ${selector.message}` };
}

function isBestEffort(pod: Pod): boolean {
  return reportedQosClass(pod) === 'BestEffort';
}

/** A term that lists any namespace, its own included, or has a selector for them, also an empty one (oddity M6). */
function usesCrossNamespaceAffinity(pod: Pod): boolean {
  const { podAffinity, podAntiAffinity, preferredPodTerms } = pod.spec.scheduling;
  const terms = [...podAffinity, ...podAntiAffinity, ...preferredPodTerms];
  return terms.some((term) => term.namespaces.length > 0 || term.namespaceSelector !== undefined);
}

function evaluated(matches: boolean): ScopeMatch {
  return { kind: 'evaluated', matches };
}
