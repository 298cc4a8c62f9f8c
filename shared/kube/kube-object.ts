import { isRecord, fieldOf } from './decode/wire-object.ts';

/** A Kubernetes object as raw JSON. Unknown fields are kept, so that nothing from a newer version is lost. */
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

/** `namespace/name`, or `name` for cluster-scoped objects: the key of stores and logs. */
export function objectKey(metadata: ObjectMeta): string {
  const name = metadata.name ?? '';
  return metadata.namespace === undefined ? name : `${metadata.namespace}/${name}`;
}

/** A number with more digits is not exact. etcd counts revisions one by one and does not get there. */
const DECIMAL = /^\d{1,15}$/;

/**
 * A resourceVersion as a number. Since 1.35 Kubernetes documents what has always been true with etcd: the
 * resourceVersions of one kind are decimal numbers that rise with each change. `undefined` for any other text.
 */
export function readRevision(resourceVersion: string | undefined): number | undefined {
  return resourceVersion !== undefined && DECIMAL.test(resourceVersion) ? Number(resourceVersion) : undefined;
}

/** Wall time in milliseconds as a Kubernetes MicroTime, which has exactly six digits after the second. */
export function microTime(nowMs: number): string {
  return new Date(nowMs).toISOString().replace('Z', '000Z');
}

/** One condition of a status (meta/v1), without its times. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

const MAX_MESSAGE_LENGTH = 2_000;

/**
 * The merge patch for `status` that sets these conditions; `undefined` if the object has them already. A condition
 * keeps its last transition time while its status stays the same. Conditions of other types are kept.
 */
export function conditionsPatch(object: KubeObject, conditions: readonly Condition[], now: number): unknown {
  const present = presentConditions(object);
  const observedGeneration = object.metadata.generation ?? 0;
  const wanted = conditions.map((condition) => {
    const before = present.find(({ type }) => type === condition.type);
    const isSame = before?.['status'] === condition.status;
    const lastTransitionTime = isSame ? before['lastTransitionTime'] : new Date(now).toISOString();
    return {
      ...condition,
      message: condition.message.slice(0, MAX_MESSAGE_LENGTH),
      observedGeneration,
      lastTransitionTime,
    };
  });
  if (wanted.every((each) => present.some((before) => isSameCondition(before, each)))) return undefined;
  const others = present.filter(({ type }) => !conditions.some((condition) => condition.type === type));
  return { status: { conditions: [...others, ...wanted] } };
}

function presentConditions(object: KubeObject): readonly Readonly<Record<string, unknown>>[] {
  const conditions = fieldOf(fieldOf(object, 'status'), 'conditions');
  return Array.isArray(conditions) ? conditions.filter(isRecord) : [];
}

function isSameCondition(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  return ['type', 'status', 'reason', 'message', 'observedGeneration'].every((key) => a[key] === b[key]);
}
