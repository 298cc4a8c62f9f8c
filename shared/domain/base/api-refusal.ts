import { quote } from './texts.ts';

/** A request refused as the API server would: HTTP code, reason (absent if the API gives none) and message. */
export interface ApiRefusal {
  readonly kind: 'refused';
  readonly code: number;
  readonly reason: string | undefined;
  readonly message: string;
  /** The causes for an invalid object, one by one: `value: Forbidden: may not be changed`. */
  readonly fieldErrors?: readonly string[];
}

/** 403. `resource` with its group: `pods`, `priorityclasses.scheduling.k8s.io`. */
export function forbidden(resource: string, name: string, why: string): ApiRefusal {
  const message = `${resource} ${quote(name)} is forbidden: ${why}`;
  return { kind: 'refused', code: 403, reason: 'Forbidden', message };
}

/** 500 as the API server answers to an error without a type: no reason, no prefix. */
export function untypedError(message: string): ApiRefusal {
  return { kind: 'refused', code: 500, reason: undefined, message };
}

/** An error list as Go's `ToAggregate` prints it, repeated texts once. */
export function joinFieldErrors(fieldErrors: readonly string[]): string {
  const texts = [...new Set(fieldErrors)];
  return texts.length === 1 ? texts.join() : `[${texts.join(', ')}]`;
}

/** The name in a refusal of a pod: requests of controllers come before names are made (oddities P1, K12). */
export function displayName(object: { readonly name: string; readonly generateName: string | undefined }): string {
  return object.name || object.generateName || 'Unknown';
}
