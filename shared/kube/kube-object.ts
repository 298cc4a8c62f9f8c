/** A Kubernetes object as raw JSON: unknown fields stay, so that nothing newer than this program is lost. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  /** Opaque text: compared for equality only. */
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** Whether a decoded JSON value is an object of the API server: it has metadata with a name. */
export function isKubeObject(value: unknown): value is KubeObject {
  return isRecord(value) && isRecord(value['metadata']) && typeof value['metadata']['name'] === 'string';
}

/** Whether a decoded JSON value is an object with fields, so neither a list nor null. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `namespace/name`, or `name` for cluster-scoped objects: the key of stores and logs. */
export function objectKey(metadata: ObjectMeta): string {
  const name = metadata.name ?? '';
  return metadata.namespace === undefined ? name : `${metadata.namespace}/${name}`;
}
