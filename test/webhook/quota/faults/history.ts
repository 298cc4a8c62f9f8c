import type { StoreChange } from '#sandbox/api-server/storage/change.ts';
import type { Store } from '#sandbox/api-server/storage/store.ts';
import { fieldsAt, listAt, numberAt, textAt, type KubeObject } from '#sandbox/api-server/wire/object.ts';

/** Resource entries of a quota that the fault run limits; memory in MiB. */
export type Cost = Readonly<Record<Limited, number>>;
export type Limited = (typeof LIMITED)[number];
export const LIMITED = ['pods', 'requests.memory'] as const;

/** One stored change, as far as the laws of the ledger look at it. */
export type HistoryEntry = PodEntry | QuotaEntry;

interface Entry {
  readonly revision: number;
  /** Monotonic, in milliseconds. */
  readonly at: number;
}

export interface PodEntry extends Entry {
  readonly kind: 'pod';
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly className: string;
  /** Nothing once it has ended or is gone. */
  readonly cost: Cost;
  readonly isGone: boolean;
}

export interface QuotaEntry extends Entry {
  readonly kind: 'quota';
  readonly name: string;
  readonly hard: Partial<Cost>;
  readonly used: Partial<Cost>;
  /** Whether `used` speaks of the present limits. */
  readonly isCounted: boolean;
  readonly reservations: number;
}

export const POD_STORAGE = 'pods.';
const QUOTA_STORAGE = 'priorityquotas.plimsoll.dev';

export const NO_COST: Cost = { pods: 0, 'requests.memory': 0 };

/**
 * Writes down every change of pods and PriorityQuotas that a store makes, none left out: it is notified in the same
 * turn.
 */
export function recordHistory(store: Store): readonly HistoryEntry[] {
  const entries: HistoryEntry[] = [];
  store.onChange((storage, change) => {
    if (storage === POD_STORAGE) entries.push(podEntry(change));
    if (storage === QUOTA_STORAGE) entries.push(quotaEntry(change));
  });
  return entries;
}

function podEntry({ current: { object }, number: revision, isRemoval: isGone }: StoreChange): PodEntry {
  const { name, namespace = '', uid = '' } = object.metadata;
  const className = textAt(fieldsAt(object, 'spec'), 'priorityClassName');
  const cost = isGone ? NO_COST : costOf(object);
  return { kind: 'pod', at: performance.now(), revision, uid, name, namespace, className, cost, isGone };
}

/** On its own, and not by the function under test: these pods have one or more plain containers and state MiB. */
function costOf(pod: KubeObject): Cost {
  const phase = textAt(fieldsAt(pod, 'status'), 'phase');
  if (phase === 'Succeeded' || phase === 'Failed') return NO_COST;
  const requests = listAt(fieldsAt(pod, 'spec'), 'containers').map((container) =>
    fieldsAt(fieldsAt(container, 'resources'), 'requests'),
  );
  return { pods: 1, 'requests.memory': requests.reduce((sum, each) => sum + mebibytes(each['memory'] ?? '0'), 0) };
}

function quotaEntry({ current: { object }, number: revision, isRemoval }: StoreChange): QuotaEntry {
  const status = fieldsAt(object, 'status');
  return {
    kind: 'quota',
    at: performance.now(),
    revision,
    name: object.metadata.name,
    hard: isRemoval ? {} : amountsOf(fieldsAt(fieldsAt(object, 'spec'), 'hard')),
    used: amountsOf(fieldsAt(status, 'used')),
    isCounted: !isRemoval && numberAt(status, 'observedGeneration') === object.metadata.generation,
    reservations: listAt(status, 'reservations').length,
  };
}

function amountsOf(amounts: Readonly<Record<string, unknown>>): Partial<Cost> {
  const read = { pods: Number, 'requests.memory': mebibytes } as const;
  const known = LIMITED.filter((name) => amounts[name] !== undefined);
  return Object.fromEntries(known.map((name) => [name, read[name](amounts[name])]));
}

/** Throws for what this run never writes, so that nothing is miscounted in silence. */
function mebibytes(text: unknown): number {
  const [, digits, unit = ''] = /^(\d+)(Mi|Gi)?$/.exec(String(text)) ?? [];
  if (digits === undefined || (unit === '' && digits !== '0')) throw new Error(`expected MiB, not "${String(text)}"`);
  return Number(digits) * (unit === 'Gi' ? 1024 : 1);
}
