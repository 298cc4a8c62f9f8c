import type { PriorityPolicy } from '#shared/domain/priority/classes-and-policies.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { JUDGED_NAMESPACES } from '#shared/kube/admission/judged-namespaces.ts';

/** What the leader knows of namespaces and of what selects them. */
export interface ConfiguredNamespaces {
  readonly namespaces: readonly Namespace[];
  readonly policies: readonly Pick<PriorityPolicy, 'namespaces'>[];
  readonly quotas: readonly Pick<PriorityQuota, 'namespaces'>[];
}

/** The names are constants of a condition; the API server bounds what comparing them may cost. */
export const MAX_ELSEWHERE = 500;
/** Each write makes every API server compile the conditions anew; clusters may create namespaces all the time. */
const MORE_EVERY_MS = 10_000;

/** The namespaces that are judged although no policy and no quota selects them, sorted. */
export function namespacesElsewhere({ namespaces, policies, quotas }: ConfiguredNamespaces): readonly string[] {
  const selectors = [...policies, ...quotas].map((each) => each.namespaces);
  const isElsewhere = ({ labels }: Namespace): boolean =>
    JUDGED_NAMESPACES.matches(labels) && !selectors.some((selector) => selector.matches(labels));
  return namespaces
    .filter(isElsewhere)
    .map(({ name }) => name)
    .sort()
    .slice(0, MAX_ELSEWHERE);
}

/** What was left out last, and since when. */
export interface LeftOut {
  readonly names: readonly string[];
  readonly at: number;
}

/**
 * The namespaces to leave out now: one that is configured since is asked about at once, while more are left out, and
 * those that are gone forgotten, only now and then.
 */
export function nextLeftOut(
  last: LeftOut | undefined,
  {
    elsewhere,
    exists,
    now,
  }: { readonly elsewhere: readonly string[]; readonly exists: (name: string) => boolean; readonly now: number },
): LeftOut {
  const wanted = new Set(elsewhere);
  const isConfigured = (name: string): boolean => exists(name) && !wanted.has(name);
  if (last !== undefined && now - last.at < MORE_EVERY_MS && !last.names.some(isConfigured)) return last;
  return { names: elsewhere, at: now };
}
