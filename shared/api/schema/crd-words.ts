import { z } from 'zod';

/** What a CustomResourceDefinition says of a value besides what its schema knows, in the words of OpenAPI. */
export interface CrdWords {
  readonly description?: string;
  /** The definition requires the field, though it is read as empty if it is absent. */
  readonly isRequired?: true;
  readonly type?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  /** `default`, which zod leaves out where reading changes the type. */
  readonly defaultValue?: unknown;
  readonly enum?: readonly string[];
  readonly items?: object;
  readonly properties?: object;
  readonly additionalProperties?: object;
  readonly 'x-kubernetes-int-or-string'?: true;
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  readonly 'x-kubernetes-map-type'?: 'atomic';
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'map' | 'set';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly CrdRule[];
}

/** A rule in CEL. */
export interface CrdRule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
  /** The rule holds for new objects too; `oldSelf` is then an optional value. */
  readonly optionalOldSelf?: true;
}

/** These words by schema. */
export const CRD_WORDS = z.registry<CrdWords>();

/** The same schema, with what the definition says of it. */
export function described<S extends z.ZodType>(schema: S, description: string | undefined, more: CrdWords = {}): S {
  const known = CRD_WORDS.get(schema);
  CRD_WORDS.add(schema, { ...known, ...more, ...(description !== undefined && { description }) });
  return schema;
}
