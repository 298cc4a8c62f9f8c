import { byName } from '#shared/domain/base/texts.ts';
import type { PriorityClass, PriorityClasses } from '#shared/domain/priority/classes-and-policies.ts';
import { reviewPolicies, type PolicyReview } from '#shared/domain/priority-rules/review-policies.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import type { Condition } from '#shared/kube/kube-object.ts';
import type { Reflector } from '#shared/kube/reflector/reflector.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { inChunks } from '#shared/runtime/turns/turns.ts';
import type { Caches } from '#webhook/cluster-state/caches.ts';
import type { Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { type PriorityQuota, reviewQuota } from '#shared/domain/quota/priority-quota.ts';
import type { UnchargedPods } from '#shared/domain/quota/view/quota-counter.ts';
import { QUOTA_NAMESPACES } from '#shared/kube/admission/judged-namespaces.ts';
import {
  EXEMPT_NAMESPACES,
  LABEL_IGNORE,
  LABEL_PRIORITY_QUOTA,
  PRIORITY_QUOTA_ENFORCED,
} from '#shared/kube/api-names.ts';
import { CONDITIONS } from '#webhook/messages.ts';

/** Conditions by object name. Rejects when the signal aborts. */
export type WantedConditions = (signal: AbortSignal) => Promise<ReadonlyMap<string, readonly Condition[]>>;

/**
 * Computes the conditions of policies. With hundreds of policies and 10,000 namespaces this is a second of work, so it
 * runs in small steps, and only after a change.
 */
export function wantedPolicyConditions(caches: Caches, clock: Clock): WantedConditions {
  const { classes, namespaces, policies } = caches;
  return untilChanged([classes, namespaces, policies], (signal) => inChunks(reviewAllPolicies(caches), clock, signal));
}

/** Computes the conditions of quotas. */
export function wantedQuotaConditions(caches: Caches, clock: Clock): WantedConditions {
  const { classes, namespaces, priorityQuotas } = caches;
  const inputs = [classes, namespaces, priorityQuotas];
  return untilChanged(inputs, (signal) => inChunks(reviewAllQuotas(caches), clock, signal));
}

function* reviewAllPolicies(caches: Caches): Steps<ReadonlyMap<string, readonly Condition[]>> {
  const reviews = yield* reviewPolicies({
    policies: [...caches.policies.values()].toSorted(byName),
    classes: classesOf(caches),
    namespaces: Array.from(caches.namespaces.values(), ({ labels }) => labels),
  });
  return new Map(reviews.map((review) => [review.policy, policyConditions(review)]));
}

function* reviewAllQuotas(caches: Caches): Steps<ReadonlyMap<string, readonly Condition[]>> {
  const conditions = new Map<string, readonly Condition[]>();
  const namespaces = [...caches.namespaces.values()];
  const classes = classesOf(caches);
  for (const quota of [...caches.priorityQuotas.values()]) {
    conditions.set(quota.name, quotaConditions(quota, namespaces, classes));
    yield;
  }
  return conditions;
}

function classesOf({ classes }: Caches): ReadonlyMap<string, PriorityClass> {
  return new Map(Array.from(classes.values(), (each) => [each.name, each]));
}

/** Caches a result until one of its inputs changes; a change during the computation invalidates it too. */
function untilChanged<T>(
  inputs: readonly Pick<Reflector<unknown>, 'onChange'>[],
  compute: (signal: AbortSignal) => Promise<T>,
): (signal: AbortSignal) => Promise<T> {
  let changes = 0;
  let known: { readonly value: T; readonly at: number } | undefined;
  for (const input of inputs) input.onChange(() => void (changes += 1));
  return async (signal) => {
    if (known?.at === changes) return known.value;
    const at = changes;
    const value = await compute(signal);
    known = { value, at };
    return value;
  };
}

const MAX_NAMES = 10;
const EXEMPT: readonly string[] = EXEMPT_NAMESPACES;

/** The conditions of a PriorityPolicy. */
export function policyConditions({ ineffective, conflicts }: PolicyReview): readonly Condition[] {
  const isReady = ineffective.length === 0;
  return [
    {
      type: 'Ready',
      status: isReady ? 'True' : 'False',
      reason: isReady ? 'Accepted' : 'SettingsWithoutEffect',
      message: isReady ? CONDITIONS.everySettingWorks() : ineffective.join('; '),
    },
    {
      type: 'Conflicting',
      status: conflicts.length === 0 ? 'False' : 'True',
      reason: conflicts.length === 0 ? 'NoConflict' : 'OtherPolicies',
      message: conflicts.length === 0 ? CONDITIONS.noConflict() : conflicts.join('; '),
    },
  ];
}

/**
 * The condition of a PriorityQuota. In a selected namespace, the API server calls the quota webhook only if the
 * namespace has the label and is not exempt; otherwise the quota is not enforced there.
 */
export function quotaConditions(
  quota: PriorityQuota,
  namespaces: readonly Namespace[],
  classes: PriorityClasses,
): readonly Condition[] {
  const selected = namespaces.filter(({ labels }) => quota.namespaces.matches(labels));
  const gaps = gapsIn(selected);
  const ineffective = reviewQuota(quota, classes);
  const message = [selected.length === 0 ? CONDITIONS.noNamespaceSelected() : enforcementText(gaps), ...ineffective];
  const reason = quotaReason(selected.length, gaps.length, ineffective.length);
  return [{ type: 'Ready', status: reason === 'Enforced' ? 'True' : 'False', reason, message: message.join('; ') }];
}

/** Whether a quota charges all its pods what they request; `undefined` before the first count. */
export function podsCondition(uncharged: UnchargedPods | undefined): Condition {
  if (uncharged === undefined)
    return { type: 'PodsReadable', status: 'Unknown', reason: 'NotCounted', message: CONDITIONS.notCounted() };
  const { unreadable, unstated } = uncharged;
  const problems = [
    ...(unreadable.length === 0 ? [] : [CONDITIONS.unreadablePods(unreadable)]),
    ...(unstated.size === 0 ? [] : [CONDITIONS.unstatedValues(unstated)]),
  ];
  const isFine = problems.length === 0;
  return {
    type: 'PodsReadable',
    status: isFine ? 'True' : 'False',
    reason: isFine ? 'AllPodsRead' : unreadable.length > 0 ? 'UnreadablePods' : 'ValuesNotStated',
    message: isFine ? CONDITIONS.allPodsRead() : problems.join('; '),
  };
}

function quotaReason(selected: number, gaps: number, ineffective: number): string {
  if (selected === 0) return 'NoNamespace';
  if (gaps > 0) return 'NotEnforcedEverywhere';
  return ineffective > 0 ? 'SettingsWithoutEffect' : 'Enforced';
}

/** Namespaces where the quota is not enforced, and what has to change there. */
interface UnenforcedQuota {
  readonly where: string;
  readonly names: readonly string[];
}

const ENFORCED_LABEL = `${LABEL_PRIORITY_QUOTA}=${PRIORITY_QUOTA_ENFORCED}`;
const GAPS: readonly { readonly where: string; readonly has: (namespace: Namespace) => boolean }[] = [
  { where: CONDITIONS.gapExempt(), has: ({ name }) => EXEMPT.includes(name) },
  { where: CONDITIONS.gapIgnored(`${LABEL_IGNORE}=true`), has: ({ labels }) => labels.get(LABEL_IGNORE) === 'true' },
  { where: CONDITIONS.gapUnlabelled(ENFORCED_LABEL), has: ({ labels }) => !QUOTA_NAMESPACES.matches(labels) },
];

/** Each namespace is listed under the first gap that applies: an exempt namespace needs no label. */
function gapsIn(selected: readonly Namespace[]): readonly UnenforcedQuota[] {
  const reasons = selected.map((namespace) => GAPS.find(({ has }) => has(namespace)));
  return GAPS.toReversed().flatMap((gap) => {
    const names = selected.filter((_, index) => reasons[index] === gap).map(({ name }) => name);
    return names.length === 0 ? [] : [{ where: gap.where, names: names.sort() }];
  });
}

function enforcementText(gaps: readonly UnenforcedQuota[]): string {
  if (gaps.length === 0) return CONDITIONS.enforcedEverywhere();
  return CONDITIONS.notEnforced(gaps.map(({ where, names }) => `${where}: ${someNames(names)}`));
}

function someNames(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return `${names.slice(0, MAX_NAMES).join(', ')}${more}`;
}
