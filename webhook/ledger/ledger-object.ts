import { NO_AMOUNTS, type Amounts } from '#shared/domain/model/amounts.ts';
import { formatQuantity } from '#shared/domain/model/format-quantity.ts';
import { EMPTY_LEDGER, type LedgerState, type Reservation } from '#shared/domain/quota/ledger.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import { decodePriorityQuota } from '#shared/kube/decode-priority-quota.ts';
import type { Decoded } from '#shared/kube/decoded.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import {
  decodeObject,
  readAmounts,
  readInstant,
  readInteger,
  readList,
  readObject,
  readText,
  type WireObject,
} from '#shared/kube/wire-object.ts';

/** A PriorityQuota with its ledger, at one revision. */
export interface LedgerObject {
  readonly raw: KubeObject;
  readonly quota: PriorityQuota;
  readonly state: LedgerState;
  /** False until the limits of this generation have been counted: nothing may be reserved before. */
  readonly isCounted: boolean;
  /** Changes with every recount and with nothing else. */
  readonly recounts: number;
}

/** Reads a raw PriorityQuota. */
export function decodeLedgerObject(raw: KubeObject): Decoded<LedgerObject> {
  const quota = decodePriorityQuota(raw);
  if (!quota.ok) return quota;
  return decodeObject(raw, (object) => {
    const status = readObject(object, 'status', (inner) => inner) ?? {};
    return {
      raw,
      quota: quota.value,
      state: readState(status),
      isCounted: readInteger(status, 'observedGeneration') === (raw.metadata.generation ?? 0),
      recounts: readInteger(status, 'recounts') ?? 0,
    };
  });
}

/** The raw object with another ledger; the API server takes its status alone, and only at this revision. */
export function encodeLedgerObject(
  { raw, recounts }: LedgerObject,
  state: LedgerState,
  isRecount: boolean,
): KubeObject {
  const status = raw['status'] ?? {};
  return {
    ...raw,
    status: {
      ...status,
      ...encodeState(state),
      ...(isRecount && { observedGeneration: raw.metadata.generation ?? 0, recounts: recounts + 1 }),
    },
  };
}

function readState(status: WireObject): LedgerState {
  const reservations = readList(status, 'reservations', readReservation);
  return {
    used: readAmounts(status, 'used') ?? EMPTY_LEDGER.used,
    byNamespace: new Map(readList(status, 'byNamespace', readShare)),
    reservations: new Map(reservations.map((each) => [each.uid, each])),
  };
}

function readShare(entry: WireObject): readonly [string, Amounts] {
  return [readText(entry, 'namespace') ?? '', readAmounts(entry, 'used') ?? NO_AMOUNTS];
}

function readReservation(entry: WireObject): Reservation {
  return {
    uid: readText(entry, 'uid') ?? '',
    namespace: readText(entry, 'namespace') ?? '',
    pod: readText(entry, 'pod') ?? '',
    amounts: readAmounts(entry, 'amounts') ?? NO_AMOUNTS,
    admittedAt: readInstant(entry, 'admittedAt') ?? 0,
  };
}

function encodeState({ used, byNamespace, reservations }: LedgerState) {
  return {
    used: encodeAmounts(used),
    byNamespace: Array.from(byNamespace, ([namespace, amounts]) => ({ namespace, used: encodeAmounts(amounts) })),
    reservations: Array.from(reservations.values(), ({ amounts, admittedAt, ...rest }) => ({
      ...rest,
      amounts: encodeAmounts(amounts),
      admittedAt: new Date(admittedAt).toISOString(),
    })),
  };
}

function encodeAmounts(amounts: Amounts): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from(amounts, ([name, amount]) => [name, formatQuantity(amount)]));
}
