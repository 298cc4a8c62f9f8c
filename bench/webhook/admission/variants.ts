import { LABEL_IGNORE, LABEL_PRIORITY_QUOTA, PRIORITY_QUOTA_ENFORCED } from '#shared/kube/api-names.ts';

/** The validating webhooks select only namespaces with this label. */
export const LABEL_VALIDATED = 'bench.plimsoll.dev/validated';

/** No webhook selects namespaces with this label; there the API server enforces the rules by itself. */
export const LABEL_RULES_ONLY = 'bench.plimsoll.dev/rules-only';

/** Only the two policies of the floor select namespaces with this label. */
export const LABEL_FLOOR = 'bench.plimsoll.dev/floor';

/** One way for a pod to be admitted, which depends on the namespace and the mode. */
export interface Variant {
  readonly name: string;
  readonly namespace: string;
  readonly hasResourceQuota: boolean;
  /** The source of the pod's class, if it has one: its user, or a policy. */
  readonly className: 'none' | 'named' | 'given';
}

const UNSEEN = { [LABEL_IGNORE]: 'true' };
const VALIDATED = { [LABEL_VALIDATED]: '' };

/** Labels of the namespaces, by name. */
export const NAMESPACES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  nothing: UNSEEN,
  limited: UNSEEN,
  floor: { ...UNSEEN, [LABEL_FLOOR]: '' },
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

/** In mode Webhook, where the API server sets no class. */
export const WEBHOOK_VARIANTS: readonly Variant[] = [
  NOTHING,
  { ...plain, name: 'rules', namespace: 'rules-only', className: 'named' },
  RESOURCE_QUOTA,
  { ...given, name: 'mutate', namespace: 'mutated' },
  { ...given, name: 'mutateAndValidate', namespace: 'validated' },
  { ...given, name: 'mutateValidateAndQuota', namespace: 'charged' },
];

/** In mode Both, where the webhooks handle the rest; in mode InProcess; and the least that two policies can add. */
export const BOTH_VARIANTS: readonly Variant[] = [
  NOTHING,
  RESOURCE_QUOTA,
  { ...given, name: 'floor', namespace: 'floor' },
  { ...given, name: 'inProcess', namespace: 'rules-only' },
  { ...given, name: 'both', namespace: 'validated' },
  { ...given, name: 'bothAndQuota', namespace: 'charged' },
];

/** The pods of a variant. */
export function podsPath({ namespace }: Pick<Variant, 'namespace'>): string {
  return `/api/v1/namespaces/${namespace}/pods`;
}
