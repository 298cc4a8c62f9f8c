import { LABEL_IGNORE, LABEL_PRIORITY_QUOTA, PRIORITY_QUOTA_ENFORCED } from '#shared/kube/api-names.ts';

/** Only namespaces with this label are seen by the validating webhooks. */
export const LABEL_VALIDATED = 'bench.plimsoll.dev/validated';

/** Namespaces with this label no webhook sees; the API server judges there by itself. */
export const LABEL_RULES_ONLY = 'bench.plimsoll.dev/rules-only';

export type VariantName =
  'nothing' | 'rules' | 'resourceQuota' | 'mutate' | 'mutateAndValidate' | 'mutateValidateAndQuota';

/** One way for a pod to be admitted, which is a matter of the namespace. */
export interface Variant {
  readonly name: VariantName;
  readonly labels: Readonly<Record<string, string>>;
  readonly hasResourceQuota: boolean;
  readonly isMutated: boolean;
}

const UNSEEN = { [LABEL_IGNORE]: 'true' };
const VALIDATED = { [LABEL_VALIDATED]: '' };
const QUOTA = { ...VALIDATED, [LABEL_PRIORITY_QUOTA]: PRIORITY_QUOTA_ENFORCED };

export const VARIANTS: readonly Variant[] = [
  { name: 'nothing', labels: UNSEEN, hasResourceQuota: false, isMutated: false },
  { name: 'rules', labels: { [LABEL_RULES_ONLY]: '' }, hasResourceQuota: false, isMutated: false },
  { name: 'resourceQuota', labels: UNSEEN, hasResourceQuota: true, isMutated: false },
  { name: 'mutate', labels: {}, hasResourceQuota: false, isMutated: true },
  { name: 'mutateAndValidate', labels: VALIDATED, hasResourceQuota: false, isMutated: true },
  { name: 'mutateValidateAndQuota', labels: QUOTA, hasResourceQuota: false, isMutated: true },
];

/** The pods of a variant, in a namespace that is named in lower case. */
export function podsPath({ name }: Variant): string {
  return `/api/v1/namespaces/${name.toLowerCase()}/pods`;
}
