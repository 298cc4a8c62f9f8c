/** The shape of a value: what decoding, patching and field ownership need to know about it. */
export type Schema = ObjectSchema | MapSchema | ListSchema | ScalarSchema | AnySchema;

/** A record of named fields. */
export interface ObjectSchema {
  readonly kind: 'object';
  /** Go's name of the type, for error texts. */
  readonly name: string;
  readonly fields: ReadonlyMap<string, Schema>;
  readonly required: ReadonlySet<string>;
  /** One owner for the whole value. */
  readonly isAtomic: boolean;
  /** Custom resources: unknown fields are kept. */
  readonly keepsUnknown: boolean;
  readonly patchStrategy: string;
}

/** Free keys, all values alike. */
export interface MapSchema {
  readonly kind: 'map';
  readonly values: Schema;
  readonly isAtomic: boolean;
}

export interface ListSchema {
  readonly kind: 'list';
  readonly items: Schema;
  readonly listType: 'atomic' | 'set' | 'map';
  readonly mapKeys: readonly string[];
  /** Defaults of key fields that may be absent, such as a port's protocol. */
  readonly keyDefaults: Readonly<Record<string, unknown>>;
  /** Of strategic merge patch: `merge`, `retainKeys`, `replace`; empty replaces. */
  readonly patchStrategy: string;
  readonly patchMergeKey: string;
}

export interface ScalarSchema {
  readonly kind: 'scalar';
  readonly type: ScalarType;
}

export type ScalarType =
  'string' | 'boolean' | 'int32' | 'int64' | 'number' | 'bytes' | 'quantity' | 'time' | 'int-or-string';

/** Any JSON, kept as it is. */
export interface AnySchema {
  readonly kind: 'any';
}

export const ANY: AnySchema = { kind: 'any' };
