import type { PriorityQuota } from './priority-quota.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';

/** Where policies and quotas name a class: `PriorityPolicy \`p\` (defaultPriorityClassName)`. */
export function classMentions(
  className: string,
  policies: readonly PriorityPolicy[],
  quotas: readonly PriorityQuota[],
): readonly string[] {
  const byPolicies = policies.flatMap((policy) =>
    fieldsNaming(className, policy).map((field) => `PriorityPolicy \`${policy.name}\` (${field})`),
  );
  const byQuotas = quotas
    .filter(({ scope }) => scope.kind === 'classes' && scope.names.has(className))
    .map(({ name }) => `PriorityQuota \`${name}\` (priorityClassNames)`);
  return [...byPolicies, ...byQuotas];
}

function fieldsNaming(className: string, policy: PriorityPolicy): readonly string[] {
  const { defaultClassName, allowedClassNames = [], substitutes, requireQuotaFor } = policy;
  const names: Readonly<Record<string, readonly (string | undefined)[]>> = {
    defaultPriorityClassName: [defaultClassName],
    allowedPriorityClassNames: allowedClassNames,
    substitutePriorityClassNames: [...substitutes].flat(),
    requireQuotaFor,
  };
  return Object.keys(names).filter((field) => names[field]?.includes(className));
}
