import {
  type PriorityClasses,
  resolvePriority,
  type PodPriority,
} from '#shared/domain/priority/classes-and-policies.ts';
import { keepPriority } from './keep-priority.ts';
import { validateChangedClass, validateNewClass } from './validate-class.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodePriorityClass, decodeResourceQuota } from '#shared/kube/decode/decode-objects.ts';
import { forbidden, badRequest, type ErrorSubject } from '#sandbox/api-server/errors/errors.ts';
import { PRIORITY_CLASSES, RESOURCE_QUOTAS } from '#sandbox/api-server/storage-names.ts';
import type { Store } from '#sandbox/api-server/storage/store.ts';
import { fieldsAt, fieldsOf, type KubeObject, copyObject } from '#sandbox/api-server/wire/object.ts';
import type { Attributes } from '#sandbox/api-server/admission.ts';
import type { Amounts } from '#shared/domain/quantity/quantity.ts';
import { encodeAmounts } from '#shared/api/fields.ts';
import { checkQuotas } from '#shared/domain/quota/resource-quota/check-quotas.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { keyOf } from '#sandbox/api-server/storage/revision.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import type { ApiRefusal } from '#shared/domain/base/api-refusal.ts';
import { causeOfText } from '#sandbox/api-server/errors/field-error.ts';
import { statusError, type StatusError } from '#sandbox/api-server/errors/status-error.ts';

/** The in-tree Priority plugin (`plugin/pkg/admission/priority`) around the shared decisions. */
export interface PriorityPlugin {
  /** Writes class, number and policy into a pod. Throws 403. */
  readonly mutate: (attributes: Attributes) => void;
  /** Checks PriorityClasses. Throws 403 and 422. */
  readonly validate: (attributes: Attributes) => void;
}

const SYSTEM_CLASSES = new Set(['system-node-critical', 'system-cluster-critical']);

export function priorityPlugin(store: Store): PriorityPlugin {
  const classes = knownClasses(store);
  return {
    mutate: (attributes) => {
      const { type, subresource, operation, object } = attributes;
      if (type.group !== '' || type.plural !== 'pods' || subresource !== '' || object === undefined) return;
      if (operation !== 'DELETE') setPriority(attributes, object, classes());
    },
    validate: (attributes) => {
      if (attributes.type.storage === PRIORITY_CLASSES) validateClass(attributes, classes());
    },
  };
}

/** Decoded once for every change of the classes. */
function knownClasses(store: Store): () => PriorityClasses {
  const collection = store.collection(PRIORITY_CLASSES);
  let classes: PriorityClasses | undefined;
  collection.onChange(() => {
    classes = undefined;
  });
  return () =>
    (classes ??= new Map(
      collection
        .values()
        .map(({ object }) => decodeForPlugin(object, decodePriorityClass))
        .map((one) => [one.name, one]),
    ));
}

function setPriority({ type, previous }: Attributes, object: KubeObject, classes: PriorityClasses): void {
  const pod = decodeForPlugin(object, decodePod);
  const resolved =
    previous === undefined ? resolvePriority(pod, classes) : keepPriority(pod, decodeForPlugin(previous, decodePod));
  if (resolved.kind === 'refused') throw refusalError(resolved, type, object.metadata.name);
  write(object, resolved);
}

function write(object: KubeObject, { priorityClassName, priority, preemptionPolicy }: PodPriority): void {
  fieldsOf(object)['spec'] = {
    ...fieldsAt(object, 'spec'),
    ...(priorityClassName === '' ? {} : { priorityClassName }),
    ...(priority === undefined ? {} : { priority }),
    ...(preemptionPolicy === undefined ? {} : { preemptionPolicy }),
  };
}

function validateClass({ type, operation, name, object, previous }: Attributes, classes: PriorityClasses): void {
  if (operation === 'DELETE') {
    if (SYSTEM_CLASSES.has(name)) throw forbidden(type, name, 'this is a system priority class and cannot be deleted');
    return;
  }
  if (object === undefined) return;
  const next = decodeForPlugin(object, decodePriorityClass);
  const outcome =
    previous === undefined
      ? validateNewClass(next, classes)
      : validateChangedClass(next, decodeForPlugin(previous, decodePriorityClass), classes);
  if (outcome.kind === 'refused') throw refusalError(outcome, type, name);
}

/**
 * The in-tree ResourceQuota plugin around the shared decisions, for pods: checks all quotas of the namespace and
 * writes what they are charged. One turn of the event loop with the write of the pod, so no race is possible.
 * Throws 403 and 500.
 */
export function chargeQuotas(store: Store, attributes: Attributes, now: number): void {
  const { type, operation, subresource, namespace, object, previous, isDryRun } = attributes;
  if (
    type.group !== '' ||
    type.plural !== 'pods' ||
    object === undefined ||
    subresource === 'eviction' ||
    subresource === 'binding'
  )
    return;
  const quotas = quotasOf(store, namespace);
  if (quotas.length === 0) return;
  const oldPod = previous === undefined ? undefined : decodeForPlugin(previous, decodePod);
  const outcome = checkQuotas(
    { operation, subresource, pod: decodeForPlugin(object, decodePod), oldPod, isDryRun, now },
    quotas,
    [],
  );
  if (outcome.kind === 'refused') throw refusalError(outcome, type, object.metadata.name);
  for (const [name, used] of outcome.newUsed) writeUsed(store, keyOf(namespace, name), used);
}

function quotasOf(store: Store, namespace: string): ResourceQuota[] {
  const collection = store.collection(RESOURCE_QUOTAS);
  if (collection.size === 0) return [];
  const found = collection.values().filter(({ object }) => object.metadata.namespace === namespace);
  return found.map(({ object }) => decodeForPlugin(object, decodeResourceQuota));
}

function writeUsed(store: Store, key: string, used: Amounts): void {
  const revision = store.collection(RESOURCE_QUOTAS).get(key);
  if (revision === undefined) return;
  const next = copyObject(revision.object);
  fieldsOf(next)['status'] = { ...fieldsAt(next, 'status'), used: encodeAmounts(used) };
  store.put(RESOURCE_QUOTAS, next);
}

/** An object as a shared decision reads it. Throws 400 if it cannot be read. */
function decodeForPlugin<T>(object: KubeObject, decode: (raw: unknown) => Decoded<T>): T {
  const decoded = decode(object);
  if (decoded.ok) return decoded.value;
  throw badRequest(`${object.kind} ${decoded.field}: ${decoded.message}`);
}

/** A refusal of the shared decisions as a Status. */
function refusalError(
  { code, reason, message, fieldErrors }: ApiRefusal,
  { group, plural, kind }: ErrorSubject,
  name: string,
): StatusError {
  if (reason === undefined) return statusError({ code, message });
  const subject = { name, ...(group === '' ? {} : { group }), kind: reason === 'Invalid' ? kind : plural };
  const details = { ...subject, ...(fieldErrors !== undefined && { causes: fieldErrors.map(causeOfText) }) };
  return statusError({ code, reason, message, details });
}
