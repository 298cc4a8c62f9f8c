import type { Amounts } from '#shared/domain/quantity/quantity.ts';
import { reportedQosClass } from '#shared/domain/pod/pod-requests.ts';
import type { Pod, PodAffinityTerm } from '#shared/domain/pod/pod.ts';
import { countsPods } from '#shared/domain/quota/priority-quota.ts';
import { joinFieldErrors } from '#shared/domain/base/api-refusal.ts';
import { hasLabelValueShape, utf8Length } from '#shared/domain/labels/label-selector.ts';
import { quote } from '#shared/domain/base/texts.ts';

/** A ResourceQuota as decisions use it. */
export interface ResourceQuota {
  readonly namespace: string;
  readonly name: string;
  /** `spec.scopes`, each as a term with `Exists`, then the terms of `spec.scopeSelector`. All must hold. */
  readonly scopes: readonly ScopeTerm[];
  /** The limits in force: `status.hard`, never `spec.hard` (oddity M1). */
  readonly hard: Amounts;
  readonly used: Amounts;
}

/** One condition of a quota or of the plugin configuration; operator and values count for PriorityClass only (M2). */
export interface ScopeTerm {
  readonly scopeName: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** An entry of `limitedResources` in the plugin configuration: what needs a quota to be used at all. */
export interface LimitedResource {
  readonly apiGroup: string;
  readonly resource: string;
  readonly matchContains: readonly string[];
  readonly matchScopes: readonly ScopeTerm[];
}

/** The terms that a pod matches, in order, or the first that cannot be evaluated and why. */
type MatchingTerms =
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

/** Whether a pod matches a term, or why the term cannot be evaluated. */
type TermAnswer = { readonly ok: true; readonly matches: boolean } | { readonly ok: false; readonly message: string };

const OPERATORS: readonly string[] = ['In', 'NotIn', 'DoesNotExist'];
const MAX_VALUE_LENGTH = 63;
const SHAPE_MISTAKE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/**
 * Whether a class name, `undefined` for none, meets a `PriorityClass` term. Names are compared, never numbers (oddity
 * M4); `Exists` ignores values, the other operators validate them first (oddity M3).
 * `pkg/quota/v1/evaluator/core/pods.go` podMatchesScopeFunc, podMatchesSelector.
 */
export function matchesClass(term: ScopeTerm, className: string | undefined): TermAnswer {
  if (term.operator === 'Exists') return { ok: true, matches: className !== undefined };
  const mistake = findMistake(term);
  if (mistake !== undefined) return { ok: false, message: `failed to parse and convert selector: ${mistake}` };
  return { ok: true, matches: meetsOperator(term, className) };
}

function meetsOperator({ operator, values }: ScopeTerm, className: string | undefined): boolean {
  const isListed = className !== undefined && values.includes(className);
  switch (operator) {
    case 'In':
      return isListed;
    case 'NotIn':
      return !isListed;
    default:
      return className === undefined;
  }
}

/** ScopedResourceSelectorRequirementsAsSelector. */
function findMistake(term: ScopeTerm): string | undefined {
  if (!OPERATORS.includes(term.operator)) return `${quote(term.operator)} is not a valid scope selector operator`;
  const mistakes = [
    ...findCountMistake(term),
    ...term.values.flatMap((value, at) => findValueMistake(term, value, at)),
  ];
  return mistakes.length === 0 ? undefined : joinFieldErrors(mistakes);
}

function findCountMistake({ operator, values }: ScopeTerm): readonly string[] {
  const takesValues = operator === 'In' || operator === 'NotIn';
  if (takesValues === values.length > 0) return [];
  return takesValues
    ? ["values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"]
    : [`values: Invalid value: ${JSON.stringify(values)}: values set must be empty for exists and does not exist`];
}

/** A class name may be longer than a label's value, which this selector takes it for. */
function findValueMistake({ scopeName }: ScopeTerm, value: string, at: number): readonly string[] {
  const mistakes = [
    ...(utf8Length(value) > MAX_VALUE_LENGTH ? [`must be no more than ${MAX_VALUE_LENGTH} bytes`] : []),
    ...(hasLabelValueShape(value) ? [] : [SHAPE_MISTAKE]),
  ];
  if (mistakes.length === 0) return [];
  return [`values[${at}][${scopeName}]: Invalid value: ${quote(value)}: ${mistakes.join('; ')}`];
}
