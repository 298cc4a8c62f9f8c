import type { ApiRefusal } from '#shared/domain/base/api-refusal.ts';

/** A refusal under the names of the vectors; an absent reason is left out when printed. */
export function describeRefusal({ code, reason, message }: ApiRefusal): object {
  return { allowed: false, code, reason, message };
}
