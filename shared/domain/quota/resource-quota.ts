import type { Amounts } from '#shared/domain/model/amounts.ts';

/** A ResourceQuota as the decisions see it. */
export interface ResourceQuota {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string | undefined;
  /** `spec.scopes`, each as `Exists`, then the terms of `spec.scopeSelector`; all must hold. */
  readonly scopes: readonly ScopeTerm[];
  /** `spec.hard`: what somebody asked for. */
  readonly wantedHard: Amounts;
  /** `status.hard`: what is enforced (oddity M1). */
  readonly hard: Amounts;
  /** `status.used`; a resource without an entry has not been counted yet. */
  readonly used: Amounts;
}

/** One scope that pods must be in. The operator and values decide only for `PriorityClass` (oddity M2). */
export interface ScopeTerm {
  readonly scopeName: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** An entry of the plugin's `limitedResources`: what nobody may use unless a quota covers it. */
export interface LimitedResource {
  readonly apiGroup: string;
  readonly resource: string;
  /** Parts of resource names. */
  readonly matchContains: readonly string[];
  readonly matchScopes: readonly ScopeTerm[];
}
