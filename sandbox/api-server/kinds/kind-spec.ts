import type { FieldReaders } from '#sandbox/api-server/selectors/field-query.ts';
import type { Column } from '#sandbox/api-server/table/column.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { Resource } from '#shared/kube/resource.ts';
import type { Behaviour, Subresource } from '#sandbox/api-server/resource-type.ts';

/** The declaration of a built-in kind; the rest follows from it. */
export interface KindSpec extends Resource {
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly Subresource[];
  readonly behaviour?: Partial<Behaviour>;
  readonly columns?: readonly Column[];
  readonly fieldReaders?: FieldReaders;
  readonly storage?: string;
  readonly toStorage?: (object: KubeObject) => KubeObject;
  readonly fromStorage?: (object: KubeObject) => KubeObject;
}

const READ_WRITE = ['get', 'patch', 'update'];

/** The `status` subresource of a kind. */
export function status(kind: string, group: string): Subresource {
  return { name: 'status', kind, group, version: 'v1', verbs: READ_WRITE };
}

/** The `scale` subresource. */
export const SCALE: Subresource = {
  name: 'scale',
  kind: 'Scale',
  group: 'autoscaling',
  version: 'v1',
  verbs: READ_WRITE,
};
