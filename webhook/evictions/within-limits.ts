import type { Allowed, Refused } from '#shared/domain/admission/decision.ts';
import { refuseFor } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { PHRASES } from '#shared/domain/admission/messages/wording.ts';
import type { EvictionUrgency } from '#shared/domain/eviction/eviction-limits.ts';
import { controllerOf } from '#shared/domain/pod/pod-owner.ts';
import { type Protection, spentBudget } from '#shared/domain/eviction/protection.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { decodeBudget } from '#shared/kube/decode/decode-objects.ts';
import { LIMIT_CAUSES } from '#shared/kube/events/evict-pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { listObjects } from '#shared/kube/client/objects.ts';
import { PDBS } from '#shared/kube/resource.ts';
import type { Count, EvictionCounter } from './eviction-store.ts';

export interface LimitSources {
  readonly client: KubeClient;
  readonly evictions: EvictionCounter;
  /** In the whole cluster. */
  readonly evictionsPerMinute: number;
}

/** An eviction that no other rule forbids. */
export interface LimitedEviction {
  readonly pod: Pod;
  /** The limits of the pod's node, for its agent; other accounts have only the cluster-wide limit. */
  readonly limits: Protection['limits'] | undefined;
  /** As the agent reports it. */
  readonly urgency: EvictionUrgency | undefined;
  readonly accepted: Allowed;
  /** By the monotonic clock. */
  readonly giveUpAt: number;
  readonly timeLeft: () => number;
}

const LONGEST_RETRY_SECONDS = 60;
const MOST_BUDGETS = 200;

/**
 * Counts an eviction against the limits of the pod's node and of the cluster. An eviction that a PodDisruptionBudget
 * forbids is refused without being counted, with the message of the API server, which would refuse it next: an agent
 * that tries one pod after another must not use up its limits on refusals.
 */
export async function withinLimits(sources: LimitSources, eviction: LimitedEviction): Promise<Allowed | Refused> {
  const { client, evictions, evictionsPerMinute: inClusterPerMinute } = sources;
  const { pod, limits, urgency, accepted, giveUpAt, timeLeft } = eviction;
  const { namespace, name, uid, spec } = pod;
  const spent = spentBudget(pod, await readBudgets(client, namespace, timeLeft()));
  if (spent !== undefined) return budgetSpent(eviction, spent.name);
  const node = limits === undefined ? '' : (spec.nodeName ?? '');
  const count = await evictions.count(
    { node, namespace, pod: name, uid, owner: controllerOf(pod)?.uid },
    { limits, inClusterPerMinute, urgency },
    giveUpAt,
  );
  return count.kind === 'counted' ? accepted : uncounted(eviction, count);
}

/** Budgets belong to tenants: those that cannot be read are left to the API server, which enforces them anyway. */
async function readBudgets(
  client: KubeClient,
  namespace: string,
  timeoutMs: number,
): Promise<readonly DisruptionBudget[]> {
  const listed = await listObjects(client, { resource: PDBS, namespace }, { limit: MOST_BUDGETS, timeoutMs });
  if (listed.kind !== 'ok' || listed.object.continueToken !== undefined) return [];
  const decoded = listed.object.items.map(decodeBudget);
  return decoded.every((each) => each.ok) ? decoded.map(({ value }) => value) : [];
}

function budgetSpent({ accepted }: LimitedEviction, budget: string): Refused {
  const refused = refuseFor(MESSAGES.budgetSpent, {}, { ...accepted.because.facts, budget });
  return { ...refused, causes: [{ reason: 'DisruptionBudget', message: PHRASES.budgetAllowsNone(budget) }] };
}

function uncounted({ accepted }: LimitedEviction, count: Exclude<Count, { kind: 'counted' }>): Refused {
  const { facts } = accepted.because;
  if (count.kind === 'unclear') return unclearEviction(count.message, facts);
  const { because, retryAfterMs, scope } = count;
  const retryAfterSeconds = Math.min(LONGEST_RETRY_SECONDS, Math.max(1, Math.ceil(retryAfterMs / 1_000)));
  const refused = refuseFor(MESSAGES.limitReached, { limit: because.text }, { ...facts, ...because.facts });
  return { ...refused, retryAfterSeconds, causes: [{ reason: LIMIT_CAUSES[scope], message: because.text }] };
}

/** The refusal of an eviction that could not be decided; 429, so that the client retries. */
export function unclearEviction(why: string, facts: Refused['because']['facts']): Refused {
  return refuseFor(MESSAGES.evictionUnclear, { cause: why }, facts);
}
