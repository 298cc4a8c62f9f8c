import type { Amounts } from '#shared/domain/quantity/amounts.ts';

/** A ResourceQuota as decisions use it. */
export interface ResourceQuota {
  readonly namespace: string;
  readonly name: string;
  /** `spec.scopes`, each as a term with `Exists`, then the terms of `spec.scopeSelector`. All must hold. */
  readonly scopes: readonly ScopeTerm[];
  /** The limits in force: `status.hard`, never `spec.hard` (oddity M1). */
  readonly hard: Amounts;
  readonly used: Amounts;
}

/** One condition of a quota or of the plugin configuration; operator and values count for PriorityClass only (M2). */
export interface ScopeTerm {
  readonly scopeName: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** An entry of `limitedResources` in the plugin configuration: what needs a quota to be used at all. */
export interface LimitedResource {
  readonly apiGroup: string;
  readonly resource: string;
  readonly matchContains: readonly string[];
  readonly matchScopes: readonly ScopeTerm[];
}
