import { PRIORITY_RULES_NAMES, WEBHOOK_CONFIGURATION } from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { ListWatchOptions } from '#shared/kube/reflector/list-watch.ts';
import { PROMPT_BACKOFF, REFLECTOR_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import { createReflector, type Reflector } from '#shared/kube/reflector/reflector.ts';
import {
  ADMISSION_POLICIES,
  ADMISSION_POLICY_BINDINGS,
  MUTATING_POLICIES,
  MUTATING_POLICY_BINDINGS,
  MUTATING_WEBHOOKS,
  PRIORITY_RULES,
  type Resource,
  VALIDATING_WEBHOOKS,
} from '#shared/kube/resource.ts';
import { liveReader, type ReadOwn } from '#webhook/cluster-state/read-own.ts';
import { SHIPPED_POLICIES } from './enforcing-policies.ts';

/** The objects that we register, compile or ship, and that decide what the API server asks of the webhook. */
export interface OwnObjects {
  /** From a copy that a watch keeps current: all of them are looked at every few seconds. */
  readonly read: ReadOwn;
  readonly copies: readonly Reflector<KubeObject>[];
}

const OWN_NAMES: ReadonlySet<string> = new Set([
  WEBHOOK_CONFIGURATION,
  ...Object.values(PRIORITY_RULES_NAMES),
  ...SHIPPED_POLICIES.map(({ metadata }) => metadata.name ?? ''),
]);

function ifOurs(raw: KubeObject): KubeObject | undefined {
  return OWN_NAMES.has(raw.metadata.name ?? '') ? raw : undefined;
}

/** Until a kind has been listed, as where the API server does not serve it, its objects are read one by one. */
export function createOwnObjects(options: ClientContext): OwnObjects {
  // Before 1.36 they are not served, which is no fault.
  const log = { warn: () => undefined, error: options.log.error.bind(options.log) };
  const sinceMinor36 = { backoff: REFLECTOR_BACKOFF, log };
  const fieldSelector = `metadata.name=${WEBHOOK_CONFIGURATION}`;
  const copyOf = (resource: Resource, special: Partial<ListWatchOptions> = {}) =>
    [resource, createReflector({ ...options, backoff: PROMPT_BACKOFF, ...special, resource, slim: ifOurs })] as const;
  const copies = new Map([
    copyOf(MUTATING_WEBHOOKS, { fieldSelector }),
    copyOf(VALIDATING_WEBHOOKS, { fieldSelector }),
    ...[PRIORITY_RULES, ADMISSION_POLICIES, ADMISSION_POLICY_BINDINGS].map((resource) => copyOf(resource)),
    ...[MUTATING_POLICIES, MUTATING_POLICY_BINDINGS].map((resource) => copyOf(resource, sinceMinor36)),
  ]);
  const live = liveReader(options.client);
  const read: ReadOwn = async (address, call) => {
    const copy = copies.get(address.resource);
    return copy?.isSynced() === true ? copy.get(address.name) : live(address, call);
  };
  return { read, copies: [...copies.values()] };
}
