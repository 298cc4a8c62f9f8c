import { isFields, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { Schema } from '#sandbox/api-server/schema/schema.ts';
import { changedFields } from './changed-fields.ts';
import { NO_FIELDS, subtract, type FieldSet } from './field-set.ts';
import type { Writer } from './managed-fields.ts';
import { setOfObject } from './set-of-object.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * What `kubectl apply --server-side` takes over without a conflict: the fields that the client's own apply set last and
 * that no other writer has changed since. For other writers nothing.
 * apimachinery `managedfields/internal/lastappliedmanager.go`.
 */
export function ownedByLastApply(schema: Schema, live: KubeObject, { manager }: Writer): FieldSet {
  const annotation = live.metadata.annotations?.[LAST_APPLIED];
  if (manager !== 'kubectl' || annotation === undefined) return NO_FIELDS;
  const applied = parse(annotation);
  if (applied === undefined) return NO_FIELDS;
  return subtract(setOfObject(schema, applied, false), changedFields(schema, live, applied).set);
}

function parse(annotation: string): KubeObject | undefined {
  try {
    const value: unknown = JSON.parse(annotation);
    return isFields(value) && isFields(value['metadata']) ? (value as unknown as KubeObject) : undefined;
  } catch {
    return undefined;
  }
}
