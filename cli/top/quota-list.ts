import { compareTexts } from '#shared/domain/base/texts.ts';
import { readableAmount } from '#shared/domain/quantity/format-quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { approximateNumber } from '#shared/domain/quantity/quantity.ts';
import { API_GROUP } from '#shared/kube/api-names.ts';
import { decodeResourceQuota } from '#shared/kube/decode/decode-objects.ts';
import { PRIORITY_QUOTAS, RESOURCE_QUOTAS } from '#shared/kube/resource.ts';
import { countedClasses } from '#cli/check/policy-findings.ts';
import { decodeCountedQuota, decodeManifest } from '#cli/cluster/cluster-model.ts';
import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import { namespacedQuota, quotaFacts, type QuotaFacts } from '#cli/explain/pod-facts.ts';
import { type Manifest, ofKind } from '#cli/manifests/parse-manifests.ts';
import type { Metadata } from '#cli/output/answer.ts';
import type { Listing } from '#cli/output/listing.ts';

/** One resource that a quota by priority limits. */
export interface QuotaRow extends Omit<QuotaFacts['resources'][number], 'namespaces'> {
  /** With a namespace it is a ResourceQuota, else a PriorityQuota. */
  readonly metadata: Metadata;
  /** The pods that the quota counts. */
  readonly scope: string;
  /** What is used of `hard`; absent if `hard` is 0. */
  readonly usedPercent?: number;
  /** Who uses most of it; absent if nothing is used, and for a ResourceQuota. */
  readonly largest?: QuotaFacts['resources'][number]['namespaces'][number];
}

/**
 * Every limit of every PriorityQuota, then of every ResourceQuota that counts priority classes; `only` one namespace:
 * of the PriorityQuotas that its pods use, and of all its ResourceQuotas.
 */
export function quotaList({ manifests, namespace }: ClusterManifests, only?: string): Listing<QuotaRow> {
  const ofCluster = ofKind(manifests, PRIORITY_QUOTAS)
    .map((each) => decodeManifest(each, decodeCountedQuota))
    .filter(({ byNamespace }) => only === undefined || byNamespace.has(only))
    .map(quotaFacts);
  const ofNamespaces = ofKind(manifests, RESOURCE_QUOTAS)
    .flatMap((each) => namespacedFacts(each, namespace, only !== undefined))
    .filter(({ metadata }) => only === undefined || metadata.namespace === only);
  return {
    kind: 'QuotaSummary',
    rows: [...ofCluster.toSorted(byName), ...ofNamespaces.toSorted(byName)].flatMap(rowsOf),
    itemOf: (row) => row,
    nameOf: ({ metadata }) =>
      `${metadata.namespace === undefined ? `priorityquota.${API_GROUP}` : 'resourcequota'}/${metadata.name}`,
    columns: [
      { header: 'NAMESPACE', cell: ({ metadata }) => metadata.namespace ?? '<none>' },
      { header: 'NAME', cell: ({ metadata }) => metadata.name },
      { header: 'RESOURCE', cell: ({ resource }) => resource },
      { header: 'USED', cell: ({ used }) => readableAmount(used) },
      { header: 'HARD', cell: ({ hard }) => readableAmount(hard) },
      { header: 'FREE', cell: ({ free }) => readableAmount(free) },
      { header: 'USED%', cell: ({ usedPercent }) => (usedPercent === undefined ? '<none>' : `${usedPercent}%`) },
      { header: 'LARGEST NAMESPACE', cell: ({ largest }) => largestText(largest) },
      { header: 'COUNTS', cell: ({ scope }) => scope, isWide: true },
    ],
  };
}

type ListedQuota = Omit<QuotaFacts, 'metadata'> & { readonly metadata: Metadata };

/** None for a ResourceQuota that counts every priority, unless these are wanted, too. */
function namespacedFacts(manifest: Manifest, fallback: string, isEvery: boolean): readonly ListedQuota[] {
  const quota = decodeManifest(manifest, decodeResourceQuota);
  return isEvery || countedClasses(quota) !== undefined ? [namespacedQuota(quota, fallback)] : [];
}

function byName(a: ListedQuota, b: ListedQuota): number {
  const [{ metadata: left }, { metadata: right }] = [a, b];
  return compareTexts(left.namespace ?? '', right.namespace ?? '') || compareTexts(left.name, right.name);
}

function rowsOf({ metadata, scope, resources }: ListedQuota): readonly QuotaRow[] {
  return resources.map(({ namespaces: [largest], ...resource }) => {
    const share = amountIn(resource.used) / amountIn(resource.hard);
    return {
      metadata,
      scope,
      ...resource,
      ...(Number.isFinite(share) && { usedPercent: Math.round(share * 100) }),
      ...(largest !== undefined && { largest }),
    };
  });
}

function amountIn(text: string): number {
  const parsed = parseQuantity(text);
  return parsed.ok ? approximateNumber(parsed.quantity) : 0;
}

function largestText(largest: QuotaRow['largest']): string {
  return largest === undefined ? '<none>' : `${largest.namespace} (${readableAmount(largest.used)})`;
}
