import { z } from 'zod';
import { type Account, MAX_CALLER_LENGTH, MAX_DEBITS } from '#shared/domain/disruption/account.ts';
import { CAUSES } from '#shared/domain/disruption/disruption.ts';
import { COMPONENTS } from '#shared/domain/disruption/limit-rule.ts';
import { type Decoded, decodeObject, readInteger, refuseField } from '#shared/kube/decode/wire-object.ts';
import { described } from './schema/crd-words.ts';
import { encodeBySchema, readBySchema } from './schema/decode-kind.ts';
import { field } from './schema/fields.ts';
import { clipped, IN_DEFINITION, INSTANT, name, oneOf } from './schema/report-fields.ts';

/** Raise it with every change that an earlier version would misread; the earlier version then allows no removal. */
const ACCOUNT_VERSION = 1;

/** Not the choices: the definition may be older than the process that writes a new one. */
const WORD = { maxLength: 64 };
const DEBIT = z.object({
  uid: name(128).required('UID of the pod.', { minLength: 1 }),
  pod: name(253).or('', 'Name of the pod.', IN_DEFINITION),
  namespace: name(63).optional('Namespace of the pod, only in plimsoll-evictions.').optional(),
  at: INSTANT.required('When it was removed or its eviction was let through.'),
  component: oneOf(COMPONENTS, WORD).or('Others', 'Component for which it counts.', IN_DEFINITION),
  cause: oneOf(CAUSES, WORD).optional('What removed it. Absent until the removal has been seen.'),
  caller: clipped(MAX_CALLER_LENGTH).optional('User that asked for it.'),
  overran: name(260).optional('Limit that the severe stage of the agent went beyond.'),
  rules: described(
    z.array(name(330).required()),
    'DisruptionLimits that cover the pod as limit/NAME, or the owner with a default limit as owner/UID. In plimsoll-evictions the windows that count it as cluster, node/NAME, node/NAME/NAMESPACE and owner/UID.',
    { maxItems: 200, 'x-kubernetes-list-type': 'atomic' },
  ),
  lapsesAt: INSTANT.required('From when on no window looks at it.'),
});

const VERSION = field(
  {
    read: (status, key) => {
      const version = readInteger(status, key) ?? ACCOUNT_VERSION;
      return version > ACCOUNT_VERSION
        ? refuseField(key, `a later version keeps this account as version ${version}`)
        : version;
    },
    write: () => ACCOUNT_VERSION,
  },
  { type: 'integer', format: 'int32', description: 'Version of the format.' },
);

export const ACCOUNT_STATUS = described(
  z.object({
    accountVersion: VERSION,
    debits: described(z.array(DEBIT), 'One for each removed pod that a window still looks at.', {
      maxItems: MAX_DEBITS,
      'x-kubernetes-list-type': 'atomic',
    }).optional(),
  }),
  'The debits, the oldest first. They change only by compare-and-swap.',
);

const ACCOUNT = z.object({ status: ACCOUNT_STATUS.optional() });

/**
 * Reads the debits of a DisruptionAccount; refuses unreadable ones, because an unknown count must not allow a removal.
 */
export function decodeAccount(raw: unknown): Decoded<Account> {
  return decodeObject(raw, (object) => readBySchema(ACCOUNT, object).status?.debits ?? []);
}

/** The status of a DisruptionAccount. */
export function encodeAccount(account: Account): object {
  return encodeBySchema(ACCOUNT_STATUS, {
    accountVersion: ACCOUNT_VERSION,
    debits: account.map((debit) => ({ ...debit, rules: [...debit.rules] })),
  });
}
