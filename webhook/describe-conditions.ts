import type { Namespace } from '#shared/domain/model/namespace.ts';
import type { PriorityClasses } from '#shared/domain/priority/priority-class.ts';
import type { PolicyReview } from '#shared/domain/priority/review-policies.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import { reviewQuota } from '#shared/domain/quota/review-quota.ts';
import type { Condition } from '#shared/kube/conditions.ts';
import { LABEL_PRIORITY_QUOTA, PRIORITY_QUOTA_ENFORCED } from '#shared/kube/wire-names.ts';

const MOST_NAMES = 10;

/** The conditions of a PriorityPolicy. */
export function policyConditions({ ineffective, conflicts }: PolicyReview): readonly Condition[] {
  const isReady = ineffective.length === 0;
  return [
    {
      type: 'Ready',
      status: isReady ? 'True' : 'False',
      reason: isReady ? 'Accepted' : 'SettingsWithoutEffect',
      message: isReady ? 'Every setting can take effect' : ineffective.join('; '),
    },
    {
      type: 'Conflicting',
      status: conflicts.length === 0 ? 'False' : 'True',
      reason: conflicts.length === 0 ? 'NoConflict' : 'OtherPolicies',
      message: conflicts.length === 0 ? 'No other policy says otherwise' : conflicts.join('; '),
    },
  ];
}

/**
 * The condition of a PriorityQuota. A namespace that is selected and not labelled is not asked about by the API server,
 * and so not held to the quota.
 */
export function quotaConditions(
  quota: PriorityQuota,
  namespaces: readonly Namespace[],
  classes: PriorityClasses,
): readonly Condition[] {
  const selected = namespaces.filter(({ labels }) => quota.namespaces.matches(labels));
  const unlabelled = selected.filter(({ labels }) => labels.get(LABEL_PRIORITY_QUOTA) !== PRIORITY_QUOTA_ENFORCED);
  const ineffective = reviewQuota(quota, classes);
  const message = [selected.length === 0 ? 'No namespace is selected' : enforcementText(unlabelled), ...ineffective];
  const reason = quotaReason(selected.length, unlabelled.length, ineffective.length);
  return [{ type: 'Ready', status: reason === 'Enforced' ? 'True' : 'False', reason, message: message.join('; ') }];
}

function quotaReason(selected: number, unlabelled: number, ineffective: number): string {
  if (selected === 0) return 'NoNamespace';
  if (unlabelled > 0) return 'NotEnforcedEverywhere';
  return ineffective > 0 ? 'SettingsWithoutEffect' : 'Enforced';
}

function enforcementText(unlabelled: readonly Namespace[]): string {
  if (unlabelled.length === 0) return 'In force in every selected namespace';
  const names = unlabelled.map(({ name }) => name).sort();
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return `Not in force where label ${LABEL_PRIORITY_QUOTA}=${PRIORITY_QUOTA_ENFORCED} is missing: ${names.slice(0, MOST_NAMES).join(', ')}${more}`;
}
