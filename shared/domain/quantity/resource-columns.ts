import { isQualifiedName } from '#shared/domain/labels/label-selector.ts';
import type { Whole } from './whole.ts';
import { type Amounts, quantityMilliValue, quantityValue } from './quantity.ts';

/** Gives each resource that the nodes of a cluster have a small number, so that amounts become rows of numbers. */
export interface ResourceColumns {
  readonly indexes: Map<string, number>;
  /** Rows by fingerprint: most pods of a cluster request the same amounts as others, and share a row. */
  readonly rows: Map<number, readonly Whole[]>;
}

/** The resources of every node. */
export const BASIC_RESOURCES: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];
/** Bounds the length of a row, because every pod and node has one. */
const MAX_COLUMNS = 1_000;
/** Rows kept for future pods; when there are more, the pool starts over. */
const MAX_ROWS = 10_000;
const LARGE_PRIME = 2_147_483_647;

export function createColumns(): ResourceColumns {
  return { indexes: new Map(BASIC_RESOURCES.map((name, index) => [name, index])), rows: new Map() };
}

/**
 * Assigns columns to resources without one, at most a thousand; true if any was assigned. Called for the resources of
 * nodes: a tenant's pod may request resources of any name, but one that no node has does not matter.
 */
export function nameColumns({ indexes }: ResourceColumns, names: Iterable<string>): boolean {
  const before = indexes.size;
  for (const name of names) {
    if (!indexes.has(name) && indexes.size < MAX_COLUMNS) indexes.set(name, indexes.size);
  }
  return indexes.size > before;
}

/** True if each of these amounts has a column. */
export function haveColumns({ indexes }: ResourceColumns, amounts: ReadonlyMap<string, Whole>): boolean {
  return Array.from(amounts.keys()).every((name) => indexes.has(name));
}

/** Writes amounts as a row, without resources that have no column; a missing resource is 0 or omitted at the end. */
export function toRow(columns: ResourceColumns, amounts: ReadonlyMap<string, Whole>): readonly Whole[] {
  const row: Whole[] = [];
  for (const [name, amount] of amounts) {
    const index = columns.indexes.get(name);
    if (index === undefined) continue;
    while (row.length <= index) row.push(0);
    row[index] = amount;
  }
  return shared(columns, row);
}

function shared({ rows }: ResourceColumns, row: readonly Whole[]): readonly Whole[] {
  const key = fingerprint(row);
  const known = rows.get(key);
  if (known !== undefined && isEqual(known, row)) return known;
  if (rows.size >= MAX_ROWS) rows.clear();
  rows.set(key, row);
  return row;
}

/** A number, because a text for each of 150,000 pods takes 0.1 s. Different rows may share a fingerprint. */
function fingerprint(row: readonly Whole[]): number {
  let mixed = row.length;
  for (const amount of row) mixed = (mixed * 31 + Number(amount)) % LARGE_PRIME;
  return mixed;
}

function isEqual(a: readonly Whole[], b: readonly Whole[]): boolean {
  return a.length === b.length && a.every((amount, column) => amount === b[column]);
}

/** True for a resource that is counted in bytes. */
export function isInBytes(name: string): boolean {
  return name === 'memory' || name === 'ephemeral-storage' || name.startsWith('hugepages-');
}

const REQUESTS_PREFIX = 'requests.';

/** True for names without a slash and for those containing `kubernetes.io/`. `pkg/apis/core/v1/helper` IsNativeResource. */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** True for an extended resource, such as a device. `pkg/apis/core/v1/helper` IsExtendedResourceName. */
export function isExtendedResource(name: string): boolean {
  return !isNativeResource(name) && !name.startsWith(REQUESTS_PREFIX) && isQualifiedName(REQUESTS_PREFIX + name);
}

/**
 * The amounts of the resources that the scheduler counts: milli of cpu, whole units of the rest, rounded up.
 * `pkg/scheduler/framework/types.go` Resource.Add.
 */
export function scheduledAmounts(amounts: Amounts): ReadonlyMap<string, Whole> {
  const whole = new Map<string, Whole>();
  for (const [name, quantity] of amounts) {
    if (!isScheduledResource(name)) continue;
    whole.set(name, name === 'cpu' ? quantityMilliValue(quantity) : quantityValue(quantity));
  }
  return whole;
}

/** True for a resource that the scheduler counts. `pkg/scheduler/util/utils.go` IsScalarResourceName, and the basic three. */
function isScheduledResource(name: string): boolean {
  return (
    BASIC_RESOURCES.includes(name) ||
    name.startsWith('hugepages-') ||
    name.startsWith('attachable-volumes-') ||
    name.includes('kubernetes.io/') ||
    isExtendedResource(name)
  );
}
