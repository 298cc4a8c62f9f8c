import { z } from 'zod';
import { EVERYTHING } from '#shared/domain/labels/label-selector.ts';
import { NO_AMOUNTS, type Amounts } from '#shared/domain/quantity/quantity.ts';
import type { PriorityQuota, PriorityScope } from '#shared/domain/quota/priority-quota.ts';
import type { LedgerState, Reservation, Slice } from '#shared/domain/quota/ledger/ledger-state.ts';
import {
  type Decoded,
  decodeObject,
  readAmounts,
  readBoolean,
  readInstant,
  readInteger,
  readList,
  readPart,
  readText,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { encodeAmounts, timeText } from './fields.ts';
import { described } from './schema/crd-words.ts';
import { decodeKind, encodeKind } from './schema/decode-kind.ts';
import { amounts, NAME, NAME_BOUNDS, preparedSelector, priorityRange, signedAmounts, texts } from './schema/fields.ts';

export const PRIORITY_QUOTA_SPEC = described(
  z.object({
    namespaceSelector: preparedSelector(
      'Labels of the namespaces that share this quota. If empty or absent, it selects every namespace.',
      EVERYTHING,
    ),
    priorityClassNames: texts(
      'Priority classes whose pods count.',
      { 'x-kubernetes-list-type': 'set', minItems: 1, maxItems: 64 },
      NAME_BOUNDS,
    ),
    priority: priorityRange(
      'Range of priorities, both ends included, whose pods count.',
      {
        min: 'Lowest priority. If absent, there is no lower bound.',
        max: 'Highest priority. If absent, there is no upper bound.',
      },
      { minProperties: 1 },
    ).optional(),
    hard: signedAmounts('Hard limits by resource name, as in a ResourceQuota.', {
      isRequired: true,
      minProperties: 1,
      maxProperties: 64,
      'x-kubernetes-validations': [
        {
          rule: "self.all(name, name in ['pods', 'cpu', 'memory', 'ephemeral-storage'] || name.startsWith('requests.') || name.startsWith('limits.') || name.startsWith('hugepages-'))",
          message: 'must name resources of pods, such as pods, requests.cpu, requests.memory or limits.memory',
        },
      ],
    }),
    defaultRequest: amounts(
      'What a container is charged that does not state a value limited by hard, by resource name of hard. Without a default, pods with such a container are refused, as a ResourceQuota does. The pod itself is not changed.',
      {
        minProperties: 1,
        maxProperties: 6,
        'x-kubernetes-validations': [
          {
            rule: "self.all(name, name in ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'])",
            message:
              'must name resources that containers have to state, which are cpu, memory, requests.cpu, requests.memory, limits.cpu and limits.memory',
          },
        ],
      },
    ),
    requireLabel: described(
      z.boolean().optional(),
      'Refuse the pods that count in selected namespaces without the label plimsoll.dev/priority-quota=enforced, where the quota is not in force. If false, such namespaces are only reported.',
    ),
  }),
  'Which pods count, and how much they may request together.',
  {
    'x-kubernetes-validations': [
      {
        rule: 'has(self.priorityClassNames) != has(self.priority)',
        message: 'must set exactly one of priorityClassNames and priority',
      },
      {
        rule: '!has(self.defaultRequest) || self.defaultRequest.all(name, name in self.hard)',
        message: 'defaultRequest must name resources of hard',
      },
    ],
  },
);

const QUOTA = z.codec(z.object({ metadata: NAME, spec: PRIORITY_QUOTA_SPEC }), z.custom<PriorityQuota>(), {
  decode: ({ metadata: { name = '' }, spec }) => ({
    name,
    namespaces: spec.namespaceSelector,
    scope: readScope(spec),
    hard: spec.hard,
    defaultRequest: spec.defaultRequest,
    requireLabel: spec.requireLabel ?? false,
  }),
  encode: ({ name, namespaces, scope, requireLabel, ...spec }) => ({
    metadata: { name },
    spec: {
      ...spec,
      ...writeScope(scope),
      namespaceSelector: namespaces,
      requireLabel: requireLabel ? true : undefined,
    },
  }),
});

type WrittenScope = Pick<z.output<typeof PRIORITY_QUOTA_SPEC>, 'priorityClassNames' | 'priority'>;

function readScope({ priority, priorityClassNames }: WrittenScope): PriorityScope {
  return priority ? { kind: 'range', ...priority } : { kind: 'classes', names: new Set(priorityClassNames) };
}

function writeScope(scope: PriorityScope): WrittenScope {
  if (scope.kind === 'classes') return { priorityClassNames: [...scope.names] };
  return { priorityClassNames: [], priority: { min: scope.min, max: scope.max } };
}

/** Reads the spec of a `plimsoll.dev/v1alpha1` PriorityQuota; its status is the ledger's. */
export function decodePriorityQuota(raw: unknown): Decoded<PriorityQuota> {
  return decodeKind(QUOTA, raw);
}

/** The object as the API server stores it, without its status; what is absent or empty is left out. */
export function encodePriorityQuota(quota: PriorityQuota): object {
  return encodeKind('PriorityQuota', QUOTA, quota);
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
    ...(readBoolean(entry, 'nameTaken') && { isNameTaken: true }),
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
  const { amounts, admittedAt, isNameTaken: nameTaken, ...rest } = reservation;
  const encoded = {
    ...rest,
    ...(nameTaken === true && { nameTaken }),
    amounts: encodeAmounts(amounts),
    admittedAt: timeText(admittedAt),
  };
  encodedReservations.set(reservation, encoded);
  return encoded;
}
