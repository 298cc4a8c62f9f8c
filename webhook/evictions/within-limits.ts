import { windowText } from '#shared/api/disruption-limit.ts';
import type { Exceeded } from '#shared/domain/disruption/account.ts';
import { type Allowed, type Refused, refuseFor } from '#shared/domain/admission/decision.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { PHRASES } from '#shared/domain/admission/messages/priority-messages.ts';
import type { EvictionUrgency } from '#shared/domain/eviction/eviction-limits.ts';
import { controllerOf, type Pod } from '#shared/domain/pod/pod.ts';
import { type Protection, spentBudget } from '#shared/domain/eviction/protection.ts';
import { LIMIT_CAUSES } from '#shared/kube/events/evict-pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { readBudgets } from './covering-limits.ts';
import type { AskedRemoval, Debited, DisruptionAccounts } from './disruption-accounts.ts';
import type { EvictionCount, EvictionCounter } from './eviction-counter.ts';

export interface EvictionLimitSources {
  readonly client: KubeClient;
  readonly evictions: EvictionCounter;
  readonly accounts: DisruptionAccounts;
  /** For the whole cluster. */
  readonly evictionsPerMinute: number;
}

/** An eviction that no other rule forbids. */
export interface LimitedEviction {
  readonly pod: Pod;
  /** The limits of the pod's node, for its agent; other accounts have only the cluster-wide limit. */
  readonly limits: Protection['limits'] | undefined;
  /** As the agent reports it. */
  readonly urgency: EvictionUrgency | undefined;
  /** How the eviction is debited to the DisruptionLimits. */
  readonly asked: Pick<AskedRemoval, 'component' | 'caller' | 'kind'>;
  readonly accepted: Allowed;
  /** By the monotonic clock. */
  readonly giveUpAt: number;
  readonly timeLeft: () => number;
}

const MAX_RETRY_SECONDS = 60;

/**
 * Counts an eviction against the limits of the pod's node and of the cluster. An eviction that a PodDisruptionBudget
 * forbids is refused without being counted, with the message of the API server, which would refuse it next: an agent
 * that tries one pod after another must not use up its limits on refusals.
 */
export async function withinLimits(
  sources: EvictionLimitSources,
  eviction: LimitedEviction,
): Promise<Allowed | Refused> {
  const { client, evictions, evictionsPerMinute: inClusterPerMinute } = sources;
  const { pod, limits, urgency, accepted, giveUpAt, timeLeft } = eviction;
  const { namespace, name, uid, spec } = pod;
  const budgets = await readBudgets(client, namespace, timeLeft());
  const spent = spentBudget(pod, budgets);
  if (spent !== undefined) return budgetSpent(eviction, spent.name);
  const begun = { budgets: Promise.resolve(budgets) };
  const asked = { ...eviction.asked, pod, begun, isDryRun: false, giveUpAt };
  const debited = await sources.accounts.debit(asked);
  if (debited.kind !== 'debited') return notDebited(eviction, debited);
  const { component, caller } = eviction.asked;
  const node = limits === undefined ? '' : (spec.nodeName ?? '');
  const count = await evictions.count(
    { component, caller, node, namespace, pod: name, uid, owner: controllerOf(pod)?.uid },
    { limits, inClusterPerMinute, urgency },
    giveUpAt,
  );
  if (count.kind === 'counted') return accepted;
  await sources.accounts.withdraw(asked);
  return uncounted(eviction, count);
}

/** The refusal of a removal that was not debited. */
export function notDebited(
  eviction: Pick<LimitedEviction, 'pod' | 'accepted'>,
  debited: Exclude<Debited, { readonly kind: 'debited' }>,
): Refused {
  const { facts } = eviction.accepted.because;
  switch (debited.kind) {
    case 'budgetSpent':
      return budgetSpent(eviction, debited.budget);
    case 'unclear':
      return unclearEviction(debited.message, facts);
    case 'exceeded':
      return limitExceeded(debited, facts);
  }
}

function limitExceeded(exceeded: Exceeded, facts: Refused['because']['facts']): Refused {
  const { key, most, rate, windowMs, retryAfterMs } = exceeded;
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  const numbers = { limit: key, most, rate, window: windowText(windowMs), retryAfter: seconds };
  const refused = refuseFor(MESSAGES.disruptionLimitReached, { ...exceeded, ...numbers }, { ...facts, ...numbers });
  const causes = [{ reason: LIMIT_CAUSES.disruptionLimit, message: refused.because.text }];
  return { ...refused, retryAfterSeconds: Math.min(MAX_RETRY_SECONDS, seconds), causes };
}

function budgetSpent({ accepted }: Pick<LimitedEviction, 'accepted'>, budget: string): Refused {
  const refused = refuseFor(MESSAGES.budgetSpent, {}, { ...accepted.because.facts, budget });
  return { ...refused, causes: [{ reason: 'DisruptionBudget', message: PHRASES.budgetAllowsNone(budget) }] };
}

function uncounted({ accepted }: LimitedEviction, count: Exclude<EvictionCount, { kind: 'counted' }>): Refused {
  const { facts } = accepted.because;
  if (count.kind === 'unclear') return unclearEviction(count.message, facts);
  const { because, retryAfterMs, scope } = count;
  const retryAfterSeconds = Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.ceil(retryAfterMs / 1_000)));
  const refused = refuseFor(MESSAGES.limitReached, { limit: because.text }, { ...facts, ...because.facts });
  return { ...refused, retryAfterSeconds, causes: [{ reason: LIMIT_CAUSES[scope], message: because.text }] };
}

/** The refusal of an eviction that could not be decided; 429, so that the client retries. */
export function unclearEviction(why: string, facts: Refused['because']['facts']): Refused {
  return refuseFor(MESSAGES.evictionUnclear, { cause: why }, facts);
}
