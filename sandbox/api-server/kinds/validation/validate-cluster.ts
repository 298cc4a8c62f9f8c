import type { FieldError } from '#sandbox/api-server/errors/field-error.ts';
import { fieldsAt, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import { invalidValue } from '#sandbox/api-server/errors/field-error.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';

/** A namespace keeps its name as a label. `pkg/apis/core/validation/validation.go` ValidateNamespaceUpdate. */
export function validateNamespaceUpdate(next: KubeObject): FieldError[] {
  const value = fieldsAt(next.metadata, 'labels')[NAME_LABEL];
  if (value === next.metadata.name) return [];
  return [invalidValue(`metadata.labels[${NAME_LABEL}]`, value, `must be equal to ${next.metadata.name}`)];
}
