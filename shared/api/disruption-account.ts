import { type Account, type Debit, MAX_CALLER_LENGTH } from '#shared/domain/disruption/account.ts';
import { CAUSES } from '#shared/domain/disruption/disruption.ts';
import { COMPONENTS } from '#shared/domain/disruption/limit-rule.ts';
import {
  type Decoded,
  decodeObject,
  readChoice,
  readInstant,
  readInteger,
  readList,
  readPart,
  readText,
  readTexts,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { present, timeText } from './fields.ts';

/** Raise it with every change that an earlier version would misread; the earlier version then allows no removal. */
const ACCOUNT_VERSION = 1;

/**
 * Reads the debits of a DisruptionAccount; refuses unreadable ones, because an unknown count must not allow a removal.
 */
export function decodeAccount(raw: unknown): Decoded<Account> {
  return decodeObject(raw, (object) =>
    readPart(object, 'status', (status) => {
      const version = readInteger(status, 'accountVersion') ?? ACCOUNT_VERSION;
      if (version > ACCOUNT_VERSION)
        refuseField('accountVersion', `a later version keeps this account as version ${version}`);
      return readList(status, 'debits', readDebit);
    }),
  );
}

function readDebit(debit: WireObject): Debit {
  return {
    uid: readText(debit, 'uid') ?? refuseField('uid', 'expected the UID of a pod'),
    pod: readText(debit, 'pod') ?? '',
    namespace: readText(debit, 'namespace'),
    at: readTime(debit, 'at'),
    component: readChoice(debit, 'component', COMPONENTS) ?? 'Others',
    rules: readTexts(debit, 'rules'),
    lapsesAt: readTime(debit, 'lapsesAt'),
    cause: readChoice(debit, 'cause', CAUSES),
    caller: readText(debit, 'caller'),
    overran: readText(debit, 'overran'),
  };
}

function readTime(debit: WireObject, key: string): number {
  return readInstant(debit, key) ?? refuseField(key, 'expected a time');
}

/** The status of a DisruptionAccount. */
export function encodeAccount(account: Account): object {
  return { accountVersion: ACCOUNT_VERSION, debits: account.map(encodeDebit) };
}

function encodeDebit({ at, lapsesAt, caller, ...others }: Debit): object {
  return present({
    ...others,
    at: timeText(at),
    lapsesAt: timeText(lapsesAt),
    caller: caller?.slice(0, MAX_CALLER_LENGTH),
  });
}
