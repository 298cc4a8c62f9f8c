import { LABEL_IGNORE, LABEL_PRIORITY_QUOTA, PRIORITY_QUOTA_ENFORCED } from '#shared/kube/api-names.ts';

/** Only namespaces with this label are seen by the validating webhooks. */
export const LABEL_VALIDATED = 'bench.plimsoll.dev/validated';

/** Namespaces with this label no webhook sees; the API server judges there by itself. */
export const LABEL_RULES_ONLY = 'bench.plimsoll.dev/rules-only';

/** One way for a pod to be admitted, which is a matter of the namespace and of the mode. */
export interface Variant {
  readonly name: string;
  readonly namespace: string;
  readonly hasResourceQuota: boolean;
  /** Where the pod's class comes from, of those that have one: from its user, or from a policy. */
  readonly className: 'none' | 'named' | 'given';
}

const UNSEEN = { [LABEL_IGNORE]: 'true' };
const VALIDATED = { [LABEL_VALIDATED]: '' };

/** Labels of the namespaces, by name. */
export const NAMESPACES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  nothing: UNSEEN,
  limited: UNSEEN,
  'rules-only': { [LABEL_RULES_ONLY]: '' },
  mutated: {},
  validated: VALIDATED,
  charged: { ...VALIDATED, [LABEL_PRIORITY_QUOTA]: PRIORITY_QUOTA_ENFORCED },
};

const plain = { hasResourceQuota: false, className: 'none' } as const;
const given = { hasResourceQuota: false, className: 'given' } as const;
const NOTHING: Variant = { ...plain, name: 'nothing', namespace: 'nothing' };
const RESOURCE_QUOTA: Variant = {
  name: 'resourceQuota',
  namespace: 'limited',
  hasResourceQuota: true,
  className: 'none',
};

/** In mode Webhook, where the API server gives no class. */
export const WEBHOOK_VARIANTS: readonly Variant[] = [
  NOTHING,
  { ...plain, name: 'rules', namespace: 'rules-only', className: 'named' },
  RESOURCE_QUOTA,
  { ...given, name: 'mutate', namespace: 'mutated' },
  { ...given, name: 'mutateAndValidate', namespace: 'validated' },
  { ...given, name: 'mutateValidateAndQuota', namespace: 'charged' },
];

/** In mode Both, where the webhooks are asked about what is left to them; and what is left in mode InProcess. */
export const BOTH_VARIANTS: readonly Variant[] = [
  NOTHING,
  RESOURCE_QUOTA,
  { ...given, name: 'inProcess', namespace: 'rules-only' },
  { ...given, name: 'both', namespace: 'validated' },
  { ...given, name: 'bothAndQuota', namespace: 'charged' },
];

/** The pods of a variant. */
export function podsPath({ namespace }: Pick<Variant, 'namespace'>): string {
  return `/api/v1/namespaces/${namespace}/pods`;
}
