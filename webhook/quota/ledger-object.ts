import { NO_AMOUNTS, type Amounts } from '#shared/domain/quantity/amounts.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { EMPTY_LEDGER, type LedgerState, type Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import type { LedgerWrite } from '#shared/domain/quota/replica/event.ts';
import type { LedgerVersion } from '#shared/domain/quota/replica/ledger-version.ts';
import type { Slice } from '#shared/domain/quota/ledger/slice.ts';
import type { ViewRevision } from '#shared/domain/quota/view/seen-pod.ts';
import { decodePriorityQuota } from '#shared/kube/decode/decode-priority-quota.ts';
import { readSlice } from '#shared/kube/decode/decode-slice.ts';
import type { Decoded } from '#shared/kube/decode/decoded.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import {
  decodeObject,
  readAmounts,
  readInstant,
  readInteger,
  readList,
  readObject,
  readText,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';

/**
 * The version of the ledger format. Raise it with every change that an earlier version of the webhook would misread: an
 * earlier version then leaves the ledger alone and refuses the pods of this quota.
 */
const LEDGER_VERSION = 1;

/** A version of a ledger with the object it was read from. */
export interface LedgerObject extends LedgerVersion {
  readonly raw: KubeObject;
}

/** Reads a raw PriorityQuota. */
export function decodeLedgerObject(raw: KubeObject): Decoded<LedgerObject> {
  const quota = decodePriorityQuota(raw);
  if (!quota.ok) return quota;
  const { uid = '', generation = 0, resourceVersion = '' } = raw.metadata;
  return decodeObject(raw, (object) => {
    const status = readObject(object, 'status', (inner) => inner) ?? {};
    assertVersion(status);
    const recounts = readInteger(status, 'recounts') ?? 0;
    return {
      raw,
      uid,
      generation,
      revision: resourceVersion,
      quota: quota.value,
      state: readState(status),
      isCounted: readInteger(status, 'observedGeneration') === generation,
      recounts,
      counted: readObject(status, 'counted', (counted) => readCounted(counted, recounts)),
    };
  });
}

/**
 * The object with another ledger. The API server takes only the status of its raw form, and only at this revision;
 * afterwards the object is what is stored, apart from the new revision.
 */
export function withLedger({ base, state, counted }: LedgerWrite): LedgerObject {
  // Every base version was decoded in this file.
  const { raw } = base as LedgerObject;
  const isRecount = counted !== undefined;
  const recounts = base.recounts + (isRecount ? 1 : 0);
  const status = {
    ...(raw['status'] ?? {}),
    ...encodeState(state),
    ledgerVersion: LEDGER_VERSION,
    recounts,
    ...(isRecount && { observedGeneration: base.generation, counted: { recount: recounts, ...counted } }),
  };
  const isCounted = base.isCounted || isRecount;
  return { ...base, raw: { ...raw, status }, state, isCounted, recounts, counted: counted ?? base.counted };
}

/** The object under the revision at which it was stored. */
export function atRevision(object: LedgerObject, resourceVersion: string): LedgerObject {
  const { raw } = object;
  return { ...object, raw: { ...raw, metadata: { ...raw.metadata, resourceVersion } }, revision: resourceVersion };
}

function assertVersion(status: WireObject): void {
  const version = readInteger(status, 'ledgerVersion') ?? LEDGER_VERSION;
  if (version <= LEDGER_VERSION) return;
  refuseField(
    'status.ledgerVersion',
    `a later version of the webhook keeps this ledger as version ${version}, this one knows ${LEDGER_VERSION}`,
  );
}

/** A replica of an older version does not record the revisions that it counted. */
function readCounted(counted: WireObject, recounts: number): ViewRevision | undefined {
  if (readInteger(counted, 'recount') !== recounts) return undefined;
  const [pods, namespaces] = [readInteger(counted, 'pods'), readInteger(counted, 'namespaces')];
  return pods === undefined || namespaces === undefined ? undefined : { pods, namespaces };
}

function readState(status: WireObject): LedgerState {
  const reservations = readList(status, 'reservations', readReservation);
  return {
    used: readAmounts(status, 'used') ?? EMPTY_LEDGER.used,
    byNamespace: new Map(readList(status, 'byNamespace', readShare)),
    reservations: new Map(reservations.map((each) => [each.uid, each])),
    slices: new Map(readList(status, 'slices', readSlice).map((each) => [each.holder, each])),
  };
}

function readShare(entry: WireObject): readonly [string, Amounts] {
  return [readText(entry, 'namespace') ?? '', readAmounts(entry, 'used') ?? NO_AMOUNTS];
}

function readReservation(entry: WireObject): Reservation {
  const claim = readText(entry, 'claim');
  const generation = readInteger(entry, 'generation');
  return {
    uid: readText(entry, 'uid') ?? '',
    namespace: readText(entry, 'namespace') ?? '',
    pod: readText(entry, 'pod') ?? '',
    amounts: readAmounts(entry, 'amounts') ?? NO_AMOUNTS,
    admittedAt: readInstant(entry, 'admittedAt') ?? 0,
    ...(generation !== undefined && { generation }),
    ...(claim !== undefined && { claim }),
  };
}

function encodeState({ used, byNamespace, reservations, slices }: LedgerState) {
  return {
    used: encodeAmounts(used),
    byNamespace: Array.from(byNamespace, ([namespace, amounts]) => ({ namespace, used: encodeAmounts(amounts) })),
    reservations: Array.from(reservations.values(), encodeReservation),
    slices: Array.from(slices.values(), encodeSlice),
  };
}

function encodeSlice({ holder, amounts, renewals, recallRequested }: Slice) {
  return { holder, amounts: encodeAmounts(amounts), renewals, ...(recallRequested && { wanted: true }) };
}

/** A reservation never changes and is written many times, so its encoding is kept. */
const encodedReservations = new WeakMap<Reservation, object>();

function encodeReservation(reservation: Reservation): object {
  const known = encodedReservations.get(reservation);
  if (known !== undefined) return known;
  const { amounts, admittedAt, ...rest } = reservation;
  const encoded = { ...rest, amounts: encodeAmounts(amounts), admittedAt: new Date(admittedAt).toISOString() };
  encodedReservations.set(reservation, encoded);
  return encoded;
}

function encodeAmounts(amounts: Amounts): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from(amounts, ([name, amount]) => [name, formatQuantity(amount)]));
}
