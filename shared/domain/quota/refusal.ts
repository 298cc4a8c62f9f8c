import type { ApiRefusal } from '#shared/domain/model/api-refusal.ts';
import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { Quantity } from '#shared/domain/quantity/quantity.ts';
import { displayName, forbidden, untypedError } from '#shared/domain/model/api-refusal.ts';

/** A resource for which a quota has no room. */
export interface Excess {
  readonly resource: string;
  /** What the request adds. */
  readonly asked: Quantity;
  readonly used: Quantity;
  readonly hard: Quantity;
}

/** The API server's answer to a request that a quota refuses, and why. */
export interface QuotaRefusal extends ApiRefusal {
  readonly because: Because & { readonly code: QuotaRefusalCode };
  /** Only with `QuotaExceeded`. */
  readonly exceeded: readonly Excess[];
}

export type QuotaRefusalCode =
  | 'ScopeUnreadable'
  | 'ValuesMissing'
  | 'UsageUnknown'
  | 'UsageNegative'
  | 'OldPodMissing'
  | 'ResourcesNotCovered'
  | 'ScopesNotCovered'
  | 'QuotaExceeded';

type Facts = Because['facts'];

/** 403 with the pod's name before the text. */
export function forbid(pod: Pod, code: QuotaRefusalCode, text: string, facts: Facts): QuotaRefusal {
  return { ...forbidden('pods', displayName(pod), text), because: { code, text, facts }, exceeded: [] };
}

/** 500: the API server gives these neither a reason nor a prefix (oddities K1, K2). */
export function fail(code: QuotaRefusalCode, text: string, facts: Facts): QuotaRefusal {
  return { ...untypedError(text), because: { code, text, facts }, exceeded: [] };
}
