import type { PriorityClasses } from '#shared/domain/priority/priority-class.ts';
import { keepPriority, resolvePriority, type PodPriority } from '#shared/domain/priority/resolve-priority.ts';
import { validateChangedClass, validateNewClass } from '#shared/domain/priority/validate-priority-class.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodePriorityClass } from '#shared/kube/decode/decode-objects.ts';
import { forbidden } from '#sandbox/api-server/errors/errors.ts';
import { PRIORITY_CLASSES } from '#sandbox/api-server/storage-names.ts';
import type { Store } from '#sandbox/api-server/storage/store.ts';
import { fieldsAt, fieldsOf, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { Attributes } from '#sandbox/api-server/admission.ts';
import { decodeForPlugin } from './decode-for-plugin.ts';
import { refusalError } from './refusal-error.ts';

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
