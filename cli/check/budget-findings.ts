import { forbidsEverything } from '#shared/domain/disruption/disruption-limit.ts';
import { decodeWrittenBudget } from '#shared/kube/decode/decode-objects.ts';
import { PDBS } from '#shared/kube/resource.ts';
import { decodeManifest } from '#cli/cluster/cluster-model.ts';
import { type Manifest, ofKind } from '#cli/manifests/parse-manifests.ts';
import type { Finding } from './finding.ts';
import { budgetsForbidEverything } from './messages.ts';

/** PodDisruptionBudgets that never allow an eviction: their namespaces make themselves immune (S3-17). */
export function budgetFindings(manifests: readonly Manifest[]): readonly Finding[] {
  const budgets = ofKind(manifests, PDBS);
  const forbidding = budgets.flatMap((manifest) => {
    const budget = decodeManifest(manifest, decodeWrittenBudget);
    return forbidsEverything(budget) === undefined ? [] : [`${budget.namespace}/${budget.name}`];
  });
  return forbidding.length === 0 ? [] : [budgetsForbidEverything(forbidding)];
}
