import { isDeepStrictEqual } from 'node:util';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { conditionsPatch, type Condition } from '#shared/kube/conditions.ts';
import { fieldOf, type KubeObject } from '#shared/kube/kube-object.ts';
import { createObject, deleteObject, getObject, patchObject, replaceObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { PRIORITY_RULES } from '#shared/kube/resource.ts';
import { API_VERSION, COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import { ERRORS } from '#webhook/messages.ts';

/** One of the PriorityRules objects: stored and wanted state; `undefined` if it does not or should not exist. */
export interface RulesObject {
  readonly name: string;
  readonly stored: KubeObject | undefined;
  readonly wanted: object | undefined;
  /** How many policies it contains. */
  readonly policies: number;
}

interface Call {
  readonly signal: AbortSignal;
}

const FIELD_MANAGER = COMPONENT_NAMES.webhook;

/** The stored object. Rejects when it cannot be read. */
export async function readRulesObject(client: KubeClient, name: string, call: Call): Promise<KubeObject | undefined> {
  const outcome = await getObject(client, { resource: PRIORITY_RULES, name }, call);
  if (outcome.kind === 'notFound') return undefined;
  return expectOk(outcome, 'read', name);
}

/** Whether the stored object matches the wanted one, regardless of field order. */
export function isCurrent({ stored, wanted }: RulesObject): boolean {
  if (stored === undefined || wanted === undefined) return stored === wanted;
  return isDeepStrictEqual(stored['spec'], JSON.parse(JSON.stringify(wanted)));
}

/**
 * Creates, replaces or deletes the object, unless another client has changed it since it was read. Rejects when it
 * cannot.
 */
export async function writeRulesObject(
  client: KubeClient,
  { name, stored, wanted }: RulesObject,
  call: Call,
): Promise<KubeObject | undefined> {
  const address = { resource: PRIORITY_RULES, name };
  const options = { ...call, fieldManager: FIELD_MANAGER };
  const { resourceVersion, uid } = stored?.metadata ?? {};
  if (wanted === undefined) {
    const preconditions = {
      ...call,
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(uid !== undefined && { uid }),
    };
    expectOk(await deleteObject(client, address, preconditions), 'delete', name);
    return undefined;
  }
  const object = {
    apiVersion: API_VERSION,
    kind: PRIORITY_RULES.kind,
    metadata: { name, resourceVersion },
    spec: wanted,
  };
  return stored === undefined
    ? expectOk(await createObject(client, { resource: PRIORITY_RULES }, object, options), 'create', name)
    : expectOk(await replaceObject(client, address, object, options), 'replace', name);
}

/** Writes in its status what it was compiled from, unless it is current. Rejects when it cannot. */
export async function writeRulesStatus(
  client: KubeClient,
  object: KubeObject,
  { policies, condition, now }: { readonly policies: number; readonly condition: Condition; readonly now: number },
  call: Call,
): Promise<void> {
  const { name = '', generation = 0 } = object.metadata;
  const conditions = conditionsPatch(object, [condition], now) as { readonly status: object } | undefined;
  const isNew = fieldOf(object['status'], 'observedGeneration') !== generation;
  if (conditions === undefined && !isNew) return;
  const compiled = { observedGeneration: generation, policies, compiledAt: new Date(now).toISOString() };
  const status = { ...conditions?.status, ...(isNew && compiled) };
  const address = { resource: PRIORITY_RULES, name, subresource: 'status' };
  const options = { ...call, type: 'merge', fieldManager: FIELD_MANAGER } as const;
  expectOk(await patchObject(client, address, { status }, options), 'write the status of', name);
}

function expectOk<T>(outcome: Outcome<T>, verb: string, name: string): T {
  if (outcome.kind === 'ok') return outcome.object;
  throw new Error(ERRORS.storedRules(verb, name, outcome.message));
}
