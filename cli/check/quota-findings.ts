import { decodePriorityQuota } from '#shared/api/priority-quota.ts';
import type { PriorityClasses } from '#shared/domain/priority/priority-class.ts';
import { addAmounts, type Amounts, NO_AMOUNTS } from '#shared/domain/quantity/amounts.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { type Overcommitment, overcommitments, type QuotaLevel } from '#shared/domain/quota/overcommitment.ts';
import { isInScope, type PriorityScope } from '#shared/domain/quota/priority-quota.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { decodeResourceQuota } from '#shared/kube/decode/decode-objects.ts';
import { PRIORITY_QUOTAS, RESOURCE_QUOTAS } from '#shared/kube/resource.ts';
import { type ClusterModel, decodeManifest } from '#cli/cluster/cluster-model.ts';
import { type Manifest, ofKind } from '#cli/manifests/parse-manifests.ts';
import type { Finding } from './finding.ts';
import { quotasAboveNodes, quotasOvercommit, quotasWithinNodes } from './messages.ts';

/** Compares what quotas by priority allow in sum with what the nodes have (S3-12). */
export function quotaFindings(
  manifests: readonly Manifest[],
  { nodes, classes }: Pick<ClusterModel, 'nodes' | 'classes'>,
): readonly Finding[] {
  const levels = [...priorityQuotas(manifests, classes), ...resourceQuotas(manifests, classes)];
  if (levels.length === 0) return [];
  const allocatable = nodes.reduce<Amounts>((sum, node) => addAmounts(sum, node.allocatable), NO_AMOUNTS);
  const { top, all } = overcommitments(levels, allocatable);
  const overcommitted = all.filter(({ resource }) => !top.some((each) => each.resource === resource));
  const found = [...top.map(shown).map(quotasAboveNodes), ...overcommitted.map(shown).map(quotasOvercommit)];
  return found.length === 0 ? [quotasWithinNodes(levels.length)] : found;
}

function shown({ allowed, allocatable, ...other }: Overcommitment) {
  return { ...other, allowed: formatQuantity(allowed), allocatable: formatQuantity(allocatable) };
}

function priorityQuotas(manifests: readonly Manifest[], classes: PriorityClasses): readonly QuotaLevel[] {
  return ofKind(manifests, PRIORITY_QUOTAS).flatMap((manifest) => {
    const { name, scope, hard } = decodeManifest(manifest, decodePriorityQuota);
    return levelOf(`PriorityQuota ${name}`, (level) => isInScope(scope, level), hard, classes);
  });
}

/** Those whose scope selects priority classes; others are no limit by priority. */
function resourceQuotas(manifests: readonly Manifest[], classes: PriorityClasses): readonly QuotaLevel[] {
  return ofKind(manifests, RESOURCE_QUOTAS).flatMap((manifest) => {
    const quota = decodeManifest(manifest, decodeResourceQuota);
    const scope = countedClasses(quota);
    if (scope === undefined) return [];
    const name = `ResourceQuota ${quota.namespace}/${quota.name}`;
    return levelOf(name, (level) => isInScope(scope, level), quota.hard, classes);
  });
}

/** The priority classes that a ResourceQuota counts; `undefined` if it counts pods whatever their class is. */
export function countedClasses({ scopes }: Pick<ResourceQuota, 'scopes'>): PriorityScope | undefined {
  const term = scopes.find(({ scopeName, operator }) => scopeName === 'PriorityClass' && operator === 'In');
  return term && { kind: 'classes', names: new Set(term.values) };
}

/** A quota of classes that do not exist allows nothing. */
function levelOf(
  name: string,
  counts: (level: { readonly className: string; readonly priority: number }) => boolean,
  hard: Amounts,
  classes: PriorityClasses,
): readonly QuotaLevel[] {
  const counted = [...classes.values()].filter((each) => counts({ className: each.name, priority: each.value }));
  if (counted.length === 0) return [];
  return [{ name, hard, priority: Math.max(...counted.map(({ value }) => value)) }];
}
