import { isDeepStrictEqual } from 'node:util';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { conditionsPatch, type Condition, type KubeObject } from '#shared/kube/kube-object.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { createObject, deleteObject, patchObject, replaceObject } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import { podArithmetic } from '#shared/kube/decode/pod-arithmetic.ts';
import { PRIORITY_RULES } from '#shared/kube/resource.ts';
import { API_VERSION, COMPONENT_NAMES, PRIORITY_RULES_NAMES } from '#shared/kube/api-names.ts';
import { ERRORS } from '#webhook/messages.ts';
import { compileRules, type CompiledRules } from '#shared/domain/priority-rules/compile-rules.ts';
import type { PriorityClasses } from '#shared/domain/priority/classes-and-policies.ts';
import type { RuleSet } from '#shared/domain/priority-rules/priority-rules.ts';
import { encodePriorityRules, storedBytes } from '#shared/api/priority-rules.ts';
import type { ReadOwn } from '#webhook/cluster-state/read-own.ts';
import type { WebhookConfiguration } from '#webhook/configuration.ts';
import type { Rules } from '#webhook/cluster-state/caches.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import { rulesCondition } from './rule-state.ts';

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

/** Whether the stored object matches the wanted one, regardless of field order. */
function isCurrent({ stored, wanted }: RulesObject): boolean {
  if (stored === undefined || wanted === undefined) return stored === wanted;
  return isDeepStrictEqual(stored['spec'], JSON.parse(JSON.stringify(wanted)));
}

/**
 * Creates, replaces or deletes the object, unless another client has changed it since it was read. Rejects when it
 * cannot.
 */
async function writeRulesObject(
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
    expectOk(await deleteObject(client, address, preconditions), `delete PriorityRules "${name}"`);
    return undefined;
  }
  const object = {
    apiVersion: API_VERSION,
    kind: PRIORITY_RULES.kind,
    metadata: { name, resourceVersion },
    spec: wanted,
  };
  return stored === undefined
    ? expectOk(
        await createObject(client, { resource: PRIORITY_RULES }, object, options),
        `create PriorityRules "${name}"`,
      )
    : expectOk(await replaceObject(client, address, object, options), `replace PriorityRules "${name}"`);
}

/** Records in its status what it was compiled from, unless the status is current. Rejects if that fails. */
async function writeRulesStatus(
  client: KubeClient,
  object: KubeObject,
  { policies, condition, now }: { readonly policies: number; readonly condition: Condition; readonly now: number },
  call: Call,
): Promise<void> {
  const { name = '', generation = 0 } = object.metadata;
  const conditions = conditionsPatch(object, [condition], now) as { readonly status: object } | undefined;
  const isNew = fieldOf(object['status'], 'observedGeneration') !== generation;
  if (conditions === undefined && !isNew) return;
  const compiled = { observedGeneration: generation, policies };
  const status = { ...conditions?.status, ...(isNew && compiled) };
  const address = { resource: PRIORITY_RULES, name, subresource: 'status' };
  const options = { ...call, type: 'merge', fieldManager: FIELD_MANAGER } as const;
  expectOk(await patchObject(client, address, { status }, options), `write the status of PriorityRules "${name}"`);
}

/** The rules compiled from policies and classes, and the stored objects to compare with. */
export interface Comparison {
  readonly compiled: CompiledRules;
  /** All classes at the time of compilation. */
  readonly classes: PriorityClasses;
  /** Objects to write first, objects to delete last, so that no rule is missing in between. */
  readonly objects: readonly RulesObject[];
  readonly isCurrent: boolean;
}

/** Compiles the rules and reads the objects. Rejects when they cannot be read. */
export async function compareRules(
  { policies, classes, priorityQuotas: quotas }: Rules,
  mode: WebhookConfiguration['mode'],
  read: ReadOwn,
): Promise<Comparison> {
  const compiled = compileRules({
    policies,
    quotas,
    classes,
    mode,
    bytesOf: storedBytes,
    arithmetic: podArithmetic(),
  });
  const wanted = [
    { name: PRIORITY_RULES_NAMES.refusing, set: compiled.refusing },
    { name: PRIORITY_RULES_NAMES.warning, set: compiled.warning },
    { name: PRIORITY_RULES_NAMES.giving, set: compiled.giving },
  ].toSorted((a, b) => absence(a.set) - absence(b.set));
  const objects = await Promise.all(
    wanted.map(async ({ name, set }) => ({
      name,
      stored: await read({ resource: PRIORITY_RULES, name }),
      wanted: set === undefined ? undefined : encodePriorityRules(set),
      policies: set?.rules.length ?? 0,
    })),
  );
  return { compiled, classes, objects, isCurrent: objects.every(isCurrent) };
}

function absence(set: RuleSet | undefined): number {
  return set === undefined ? 1 : 0;
}

export interface WritingTerm {
  readonly signal: AbortSignal;
  readonly term: LeaseTerm;
  readonly now: number;
  /** Called for every object that was changed. */
  readonly written: () => void;
}

/** Writes the objects that differ, and their status. Rejects when it cannot, or no longer leads. */
export async function writeRules(
  client: KubeClient,
  { compiled, objects }: Comparison,
  { signal, term, now, written }: WritingTerm,
): Promise<void> {
  for (const object of objects) {
    let { stored } = object;
    if (!isCurrent(object)) {
      if (!term.isHeld()) throw new Error(ERRORS.ledPerhapsByAnother());
      stored = await writeRulesObject(client, object, { signal });
      written();
    }
    if (stored === undefined || !term.isHeld()) continue;
    const { policies } = object;
    const condition = rulesCondition(compiled.leftOut, policies);
    await writeRulesStatus(client, stored, { policies, condition, now }, { signal });
  }
}
