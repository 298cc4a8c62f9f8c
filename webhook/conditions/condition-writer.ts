import type { ClientContext } from '#shared/kube/client/client.ts';
import { conditionsPatch, type Condition, type KubeObject } from '#shared/kube/kube-object.ts';
import type { EventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { ControllerPart } from '#shared/kube/lease/run-controller.ts';
import { listObjects, patchObject } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import { apiVersionOf, PRIORITY_POLICIES, PRIORITY_QUOTAS, type Resource } from '#shared/kube/resource.ts';
import { COMPONENT_NAMES, EVENT_REASONS } from '#shared/kube/api-names.ts';
import type { Caches } from '#webhook/cluster-state/caches.ts';
import { createDefaultClassEvents, createLostNamespaceEvents } from '#webhook/events/cluster-events.ts';
import { podsCondition, wantedPolicyConditions, wantedQuotaConditions } from './wanted-conditions.ts';
import type { RuleReconciler } from '#webhook/rules/rule-reconciler.ts';
import type { UnchargedPods } from '#shared/domain/quota/view/quota-counter.ts';
import { ERRORS, LOG } from '#webhook/messages.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';

export interface ConditionWriterOptions extends Omit<ClientContext, 'metrics'> {
  readonly caches: Caches;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly rules: Pick<RuleReconciler, 'conditionOf'>;
  /** Which pods of a quota are not charged as they request; `undefined` until the pods have been counted. */
  readonly uncharged: (quota: string) => UnchargedPods | undefined;
}

/** One round of the leader: the signal aborts it, and nothing is written after the leader's term. */
interface Round {
  readonly signal: AbortSignal;
  readonly term: LeaseTerm;
}

const PERIOD_MS = 10_000;
const DEADLINE_MS = 10_000;

/** Writes the conditions of policies and quotas, which show administrators what is wrong with them. */
export function createConditionWriter(options: ConditionWriterOptions): ControllerPart {
  const { client, caches, events, rules, uncharged, clock, random, log } = options;
  const recordDefaults = createDefaultClassEvents(events);
  const recordLost = createLostNamespaceEvents(events);
  const wantedOfPolicies = wantedPolicyConditions(caches, clock);
  const wantedOfQuotas = wantedQuotaConditions(caches, clock);

  async function reconcile(round: Round): Promise<void> {
    recordDefaults(new Map(Array.from(caches.classes.values(), (each) => [each.name, each])));
    recordLost(caches.priorityQuotas.values(), [...caches.namespaces.values()]);
    await writeAll(PRIORITY_POLICIES, enforcedAs(await wantedOfPolicies(round.signal)), round);
    await writeAll(PRIORITY_QUOTAS, withPods(await wantedOfQuotas(round.signal)), round);
  }

  function withPods(conditions: ReadonlyMap<string, readonly Condition[]>): ReadonlyMap<string, readonly Condition[]> {
    return new Map(Array.from(conditions, ([quota, others]) => [quota, [...others, podsCondition(uncharged(quota))]]));
  }

  /** Adds the state of the rules that the API server enforces; it can change even if the policies do not. */
  function enforcedAs(
    conditions: ReadonlyMap<string, readonly Condition[]>,
  ): ReadonlyMap<string, readonly Condition[]> {
    const entries = Array.from(conditions, ([name, own]): [string, readonly Condition[]] => {
      const policy = caches.policies.get(name);
      const enforcement = policy === undefined ? undefined : rules.conditionOf(policy);
      return [name, enforcement === undefined ? own : [...own, enforcement]];
    });
    return new Map(entries);
  }

  async function writeAll(
    resource: Resource,
    conditions: ReadonlyMap<string, readonly Condition[]>,
    { signal, term }: Round,
  ): Promise<void> {
    if (conditions.size === 0) return;
    const listed = await listObjects(client, { resource }, { signal });
    for (const object of expectOk(listed, `list ${resource.plural}`).items) {
      const name = object.metadata.name ?? '';
      const wanted = conditions.get(name) ?? [];
      const patch = conditionsPatch(object, wanted, clock.now());
      if (patch === undefined) continue;
      if (!term.isHeld()) return;
      const options = { type: 'merge', fieldManager: COMPONENT_NAMES.webhook, signal } as const;
      const outcome = await patchObject(client, { resource, name, subresource: 'status' }, patch, options);
      if (outcome.kind !== 'ok') throw new Error(ERRORS.writeConditions(resource.kind, name, outcome.message));
      recordConflict(events, resource, object, wanted);
    }
  }

  const rounds = reportRounds(log, LOG.conditionsFailed);

  return {
    name: 'conditions',
    begin: (term) => {
      const task = (signal: AbortSignal): Promise<void> => reconcile({ signal, term });
      return { passes: [{ task, periodMs: () => PERIOD_MS * (1 + random()), deadlineMs: DEADLINE_MS, ...rounds }] };
    },
  };
}

/** Records one Event per change of the condition. */
function recordConflict(
  events: ConditionWriterOptions['events'],
  resource: Resource,
  { metadata }: KubeObject,
  conditions: readonly Condition[],
): void {
  const conflict = conditions.find(({ type, status }) => type === 'Conflicting' && status === 'True');
  if (conflict === undefined) return;
  const { name = '', uid } = metadata;
  events.record({
    regarding: { apiVersion: apiVersionOf(resource), kind: resource.kind, name, ...(uid !== undefined && { uid }) },
    type: 'Warning',
    reason: EVENT_REASONS.policyConflict,
    note: conflict.message,
    action: 'Review',
  });
}
