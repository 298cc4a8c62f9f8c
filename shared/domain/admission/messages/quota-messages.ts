import type { Message } from '#shared/domain/admission/decision.ts';
import type { WithCause, NamedClass } from './priority-messages.ts';

/** Sentences about charges of quotas. */
export const QUOTA_MESSAGES = {
  quotaExceeded: {
    code: 'QuotaExceeded',
    status: 403,
    text: (v: QuotaFigures) =>
      [
        asKubernetes(v),
        `quota \`${v.quota}\` ${v.where}: \`${v.resource}\` is limited to ${v.hard}`,
        `used ${v.used}, requested ${v.asked} (priority class \`${v.priorityClassName}\`)`,
        v.free === undefined ? 'nothing left' : `at most ${v.free} would fit`,
        ...(v.others.length === 0 ? [] : [`also exceeded: ${v.others.map((name) => `\`${name}\``).join(', ')}`]),
        ...v.holders,
      ].join('; '),
  },
  quotaUnusable: {
    code: 'QuotaUnusable',
    status: 403,
    text: ({ apiServer }: { readonly apiServer: string }) => apiServer,
  },
  quotaValuesMissing: {
    code: 'QuotaValuesMissing',
    status: 403,
    text: (v: { readonly quota: string; readonly missing: string }) =>
      `failed quota: ${v.quota}: must specify ${v.missing}`,
  },
  groupCounted: {
    code: 'QuotaCountsGroup',
    status: 403,
    text: (v: { readonly quota: string } & NamedClass) =>
      `quota \`${v.quota}\` counts priority class \`${v.priorityClassName}\` here, and a PodGroup of that class gives its priority to pods that are not charged for it; use a class that no quota counts here, and name the class in each pod`,
  },
  notCounted: { code: 'NothingToDecide', status: 200, text: () => 'no quota counts this pod' },
  quotaReserved: {
    code: 'QuotaReserved',
    status: 200,
    text: ({ quotas }: { readonly quotas: string }) => `charged to quota ${quotas}`,
  },
  quotaBusy: {
    code: 'QuotaBusy',
    status: 429,
    retryAfterSeconds: 1,
    text: ({ quota, cause }: { readonly quota: string } & WithCause) =>
      `cannot charge quota \`${quota}\`: ${cause}; try again`,
  },
  quotaLabelsUnreadable: {
    code: 'QuotaBusy',
    status: 429,
    retryAfterSeconds: 1,
    text: ({ cause }: WithCause) => `cannot read the labels of the namespace: ${cause}; try again`,
  },
  quotaWasted: {
    code: 'QuotaWasted',
    // Without a time to wait: the few workers of a controller that serves all namespaces would wait it out.
    status: 429,
    text: (v: { readonly quota: string; readonly namespace: string }) =>
      `quota \`${v.quota}\` is temporarily closed to namespace \`${v.namespace}\`: too many of its pods were charged but not created, because something else refused them or their names were taken; try again in a few minutes`,
  },
} as const satisfies Record<string, Message<never>>;

/** The amounts of one exceeded resource, as Kubernetes writes them. */
export interface ExceededAmounts {
  readonly resource: string;
  readonly asked: string;
  readonly used: string;
  readonly hard: string;
}

/**
 * As the plugin ResourceQuota of the API server says it (`plugin/pkg/admission/resourcequota/controller.go`): programs
 * that create pods wait and try again when they find these words.
 */
function asKubernetes({ quota, amounts, ...first }: QuotaFigures): string {
  const sorted = (amounts ?? [first]).toSorted((left, right) => (left.resource < right.resource ? -1 : 1));
  const list = (of: 'asked' | 'used' | 'hard') => sorted.map((each) => `${each.resource}=${each[of]}`).join(',');
  return `exceeded quota: ${quota}, requested: ${list('asked')}, used: ${list('used')}, limited: ${list('hard')}`;
}

/** The figures of a full quota, readable. */
interface QuotaFigures extends NamedClass {
  readonly quota: string;
  /** `in namespace …`, `over all its namespaces`. */
  readonly where: string;
  readonly resource: string;
  readonly hard: string;
  readonly used: string;
  readonly asked: string;
  /** What would fit; `undefined` for nothing. */
  readonly free: string | undefined;
  readonly others: readonly string[];
  /** Clauses that name the holders. */
  readonly holders: readonly string[];
  /** Of all exceeded resources; if absent, those of the first. */
  readonly amounts?: readonly ExceededAmounts[];
}
