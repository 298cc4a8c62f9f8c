import { NO_AMOUNTS, type Amounts } from '#shared/domain/quantity/quantity.ts';
import type { PriorityQuota, PriorityScope } from '#shared/domain/quota/priority-quota.ts';
import {
  type Decoded,
  decodeObject,
  readAmounts,
  readBoolean,
  readIdentity,
  readInteger,
  readObject,
  readPart,
  readTexts,
  type WireObject,
  readInstant,
  readList,
  readText,
} from '#shared/kube/decode/wire-object.ts';
import type { LedgerState, Reservation, Slice } from '#shared/domain/quota/ledger/ledger-state.ts';
import { encodeAmounts, encodeObject, encodeSelector, present, timeText } from './fields.ts';
import { readNamespaceSelector } from './priority-policy.ts';

const LOWEST_PRIORITY = -(2 ** 31);
const HIGHEST_PRIORITY = 2 ** 31 - 1;

/** Reads the spec of a `plimsoll.dev/v1alpha1` PriorityQuota; its status is the ledger's. */
export function decodePriorityQuota(raw: unknown): Decoded<PriorityQuota> {
  return decodeObject(raw, (object) => ({
    name: readPart(object, 'metadata', readIdentity).name,
    ...readPart(object, 'spec', readSpec),
  }));
}

function readSpec(spec: WireObject): Omit<PriorityQuota, 'name'> {
  return {
    namespaces: readNamespaceSelector(spec),
    scope: readObject(spec, 'priority', readRange) ?? {
      kind: 'classes',
      names: new Set(readTexts(spec, 'priorityClassNames')),
    },
    hard: readAmounts(spec, 'hard') ?? NO_AMOUNTS,
    defaultRequest: readAmounts(spec, 'defaultRequest') ?? NO_AMOUNTS,
    requireLabel: readBoolean(spec, 'requireLabel'),
  };
}

function readRange(range: WireObject): PriorityScope {
  const min = readInteger(range, 'min') ?? LOWEST_PRIORITY;
  return { kind: 'range', min, max: readInteger(range, 'max') ?? HIGHEST_PRIORITY };
}

/** The object as the API server stores it, without its status; what is absent or empty is left out. */
export function encodePriorityQuota(quota: PriorityQuota): object {
  const { name, namespaces, scope, hard, defaultRequest, requireLabel } = quota;
  const spec = present({
    namespaceSelector: namespaces.written && encodeSelector(namespaces.written),
    ...encodeScope(scope),
    hard: hard.size === 0 ? undefined : encodeAmounts(hard),
    defaultRequest: defaultRequest.size === 0 ? undefined : encodeAmounts(defaultRequest),
    requireLabel: requireLabel ? true : undefined,
  });
  return encodeObject('PriorityQuota', { name }, { spec });
}

function encodeScope(scope: PriorityScope): object {
  if (scope.kind === 'classes') return scope.names.size === 0 ? {} : { priorityClassNames: [...scope.names] };
  const { min, max } = scope;
  return {
    priority: present({
      min: min === LOWEST_PRIORITY ? undefined : min,
      max: max === HIGHEST_PRIORITY ? undefined : max,
    }),
  };
}

/** Reads the ledger in the status of a raw PriorityQuota; empty without a status. */
export function decodeLedger(raw: unknown): Decoded<LedgerState> {
  return decodeObject(raw, (object) => readPart(object, 'status', readLedger));
}

/** Reads the ledger in a status. */
export function readLedger(status: WireObject): LedgerState {
  const reservations = readList(status, 'reservations', readReservation);
  return {
    used: readAmounts(status, 'used') ?? NO_AMOUNTS,
    byNamespace: new Map(readList(status, 'byNamespace', readShare)),
    reservations: new Map(reservations.map((each) => [each.uid, each])),
    slices: readSlices(status),
  };
}

/** Reads the slices in a status, by holder. */
export function readSlices(status: WireObject): ReadonlyMap<string, Slice> {
  return new Map(readList(status, 'slices', readSlice).map((slice) => [slice.holder, slice]));
}

function readSlice(entry: WireObject): Slice {
  return {
    holder: readText(entry, 'holder') ?? '',
    amounts: readAmounts(entry, 'amounts') ?? NO_AMOUNTS,
    renewals: readInteger(entry, 'renewals') ?? 0,
    recallRequested: readBoolean(entry, 'wanted'),
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

/** The fields of a status that hold the ledger. */
export function encodeLedger({ used, byNamespace, reservations, slices }: LedgerState) {
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
  const encoded = { ...rest, amounts: encodeAmounts(amounts), admittedAt: timeText(admittedAt) };
  encodedReservations.set(reservation, encoded);
  return encoded;
}
