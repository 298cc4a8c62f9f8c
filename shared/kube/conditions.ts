import { fieldOf, isRecord, type KubeObject } from './kube-object.ts';

/** One condition of a status (meta/v1), without its times. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

const LONGEST_MESSAGE = 2_000;

/**
 * The merge patch for `status` that gives an object these conditions; `undefined` when it has them already. A condition
 * keeps the time of its last transition while its status stays; conditions of other types stay as they are.
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
      message: condition.message.slice(0, LONGEST_MESSAGE),
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
