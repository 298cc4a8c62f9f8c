import type { ResourceType } from '#sandbox/api-server/resource-type.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';

export interface TableOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** What each row carries in addition to its cells: metadata by default. */
  readonly includeObject: 'None' | 'Metadata' | 'Object';
}

/** Objects as a `meta.k8s.io/v1` Table. */
export function tableOf(
  type: ResourceType,
  objects: readonly KubeObject[],
  metadata: object,
  options: TableOptions,
): object {
  const now = options.now();
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: type.columns.map(({ name, type: kind, format, description, priority }) => ({
      name,
      type: kind,
      format,
      description,
      priority,
    })),
    rows: objects.map((object) => ({
      cells: type.columns.map((column) => column.read(object, now)),
      ...rowObject(type, object, options),
    })),
  };
}

function rowObject(
  type: ResourceType,
  object: KubeObject,
  { includeObject }: TableOptions,
): { readonly object: object | null } {
  if (includeObject === 'None') return { object: null };
  if (includeObject === 'Object') return { object: type.view.convert?.(object) ?? object };
  return { object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata } };
}
