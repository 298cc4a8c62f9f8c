import { isDeepStrictEqual } from 'node:util';
import { runPolicies, type PolicyPorts } from '#sandbox/api-server/policies/run-policies.ts';
import { copyObject } from '#sandbox/api-server/wire/object.ts';
import type { Store } from '#sandbox/api-server/storage/store.ts';
import {
  runMutating,
  runValidating,
  type Rounds,
  type WebhookPorts,
} from '#sandbox/api-server/webhooks/webhook-phases.ts';
import type { Admission, Attributes } from '#sandbox/api-server/admission.ts';
import { checkNamespaceLifecycle } from './namespace-lifecycle.ts';
import { completePod } from './pod-plugins.ts';
import { priorityPlugin, type PriorityPlugin } from './priority-plugin.ts';
import { chargeQuotas } from './quota-plugin.ts';

/**
 * The admission chain in the order of Kubernetes 1.36: in-tree mutators, mutating webhooks, all of it once more if a
 * webhook changed the object; later the validating policies, the validating webhooks and, last, the quota.
 */
export function createAdmission(store: Store, webhooks: WebhookPorts, policies: PolicyPorts): Admission {
  const priority = priorityPlugin(store);
  return {
    mutate: (attributes) => mutate({ store, webhooks, priority }, attributes),
    validate: async (attributes) => {
      priority.validate(attributes);
      runPolicies(policies, attributes);
      await runValidating(webhooks, attributes);
      return () => chargeQuotas(store, attributes, webhooks.clock.now());
    },
  };
}

interface Chain {
  readonly store: Store;
  readonly webhooks: WebhookPorts;
  readonly priority: PriorityPlugin;
}

async function mutate(chain: Chain, attributes: Attributes): Promise<Attributes['object']> {
  runInTree(chain, attributes);
  if (chain.webhooks.registry.mutating().length === 0) return attributes.object;
  const rounds: Rounds = { isSecond: false, called: new Set(), dueAgain: new Set() };
  const first = await runMutating(chain.webhooks, attributes, rounds);
  if (first === undefined || isDeepStrictEqual(first, attributes.object)) return first;
  return secondRound(chain, { ...attributes, object: copyObject(first) }, rounds);
}

/** What an in-tree plugin changes now makes every webhook due that was called before. */
async function secondRound(chain: Chain, attributes: Attributes, rounds: Rounds): Promise<Attributes['object']> {
  const before = attributes.object === undefined ? undefined : copyObject(attributes.object);
  runInTree(chain, attributes);
  if (!isDeepStrictEqual(before, attributes.object)) for (const id of rounds.called) rounds.dueAgain.add(id);
  return runMutating(chain.webhooks, attributes, { ...rounds, isSecond: true });
}

function runInTree({ store, priority }: Chain, attributes: Attributes): void {
  checkNamespaceLifecycle(store, attributes);
  completePod(attributes);
  priority.mutate(attributes);
}
