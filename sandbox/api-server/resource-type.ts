import type { FieldError } from '#sandbox/api-server/errors/field-error.ts';
import type { FieldReaders } from '#sandbox/api-server/selectors/field-query.ts';
import type { JsonSchema } from '#sandbox/api-server/schema/compile-schema.ts';
import type { Schema } from '#sandbox/api-server/schema/schema.ts';
import type { View } from '#sandbox/api-server/storage/revision.ts';
import type { Column } from './table/column.ts';
import type { KubeObject } from './wire/object.ts';
import type { Resource } from '#shared/kube/resource.ts';

/** Everything the server knows about one kind of object in one version. */
export interface ResourceType extends Resource {
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly Subresource[];
  readonly schema: Schema;
  /** The OpenAPI definition's name; empty for custom resources. */
  readonly definition: string;
  /** The published schema of a custom resource. */
  readonly openApi: JsonSchema | undefined;
  /** The collection; Events of both groups share one. */
  readonly storage: string;
  readonly view: View;
  /** Converts from the client's version to the stored one. */
  readonly toStorage: ((object: KubeObject) => KubeObject) | undefined;
  readonly behaviour: Behaviour;
  readonly columns: readonly Column[];
  readonly fieldReaders: FieldReaders;
}

export interface Subresource {
  readonly name: SubresourceName;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly string[];
}

export type SubresourceName = 'status' | 'scale' | 'eviction' | 'binding' | 'log' | 'finalize' | 'resize';

/** The specifics of a kind. Functions that fill in defaults change their argument. */
export interface Behaviour {
  readonly nameRule: 'subdomain' | 'label' | 'path';
  /** `metadata.generation` counts the changes of the spec. */
  readonly hasGeneration: boolean;
  readonly isCreatedByPut: boolean;
  /** Answers a delete with the object; other kinds answer with a Status. */
  readonly returnsDeleted: boolean;
  /** The status is a subresource: other updates keep it. */
  readonly hasStatus: boolean;
  /** The first status may come with the object, as a kubelet's does. */
  readonly isCreatedWithStatus: boolean;
  readonly setDefaults: (object: KubeObject) => void;
  /** Fills in what the server decides on creation. */
  readonly prepareCreate: (object: KubeObject) => void;
  readonly validate: (object: KubeObject) => readonly FieldError[];
  readonly validateUpdate: (next: KubeObject, previous: KubeObject) => readonly FieldError[];
}

/** A kind without rules of its own. */
export const PLAIN: Behaviour = {
  nameRule: 'subdomain',
  hasGeneration: false,
  isCreatedByPut: false,
  returnsDeleted: false,
  hasStatus: false,
  isCreatedWithStatus: false,
  setDefaults: () => undefined,
  prepareCreate: () => undefined,
  validate: () => [],
  validateUpdate: () => [],
};
