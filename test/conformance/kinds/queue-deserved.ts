import { finish } from '#shared/domain/base/steps.ts';
import { quantitySign } from '#shared/domain/quantity/quantity.ts';
import type { Whole } from '#shared/domain/quantity/whole.ts';
import {
  MAX_WEIGHT,
  plainQueue,
  type Queue,
  type QueueAmounts,
  queueAmounts,
  queueQuantity,
} from '#shared/domain/queue/queue.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { createShares, deservedOf } from '#shared/domain/queue/shares.ts';
import {
  readAmounts,
  readCount,
  readList,
  readText,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { readCase } from '#test/conformance/required.ts';

/** Kind `queue-deserved`: what each queue deserves of a total. */
export function answer(raw: unknown): unknown {
  const { queues, total } = readCase(raw, (vector) => ({
    queues: readList(vector, 'queues', readQueue),
    total: readQueueAmounts(vector, 'total'),
  }));
  const requested = new Map(queues.map(({ queue, request }) => [queue.name, request]));
  const tree = createQueueTree(queues.map(({ queue }) => queue));
  const shares = finish(createShares({ tree, total, requested }));
  const printedOf = (name: string) => printed(deservedOf(shares, tree.indexes.get(name) ?? 0));
  return { want: Object.fromEntries(queues.map(({ queue: { name } }) => [name, printedOf(name)])) };
}

function readQueue(vector: WireObject): { readonly queue: Queue; readonly request: QueueAmounts } {
  const weight = readCount(vector, 'weight') ?? 0;
  if (weight > MAX_WEIGHT) refuseField('weight', `expected at most ${MAX_WEIGHT}, got ${weight}`);
  const queue = {
    ...plainQueue(readText(vector, 'name') ?? ''),
    weight,
    guaranteed: readQueueAmounts(vector, 'guaranteed'),
    max: readQueueAmounts(vector, 'capability'),
  };
  return { queue, request: readQueueAmounts(vector, 'request') };
}

/** Amounts of at least 0. */
export function readQueueAmounts(object: WireObject, key: string): QueueAmounts {
  const amounts = readAmounts(object, key) ?? new Map<string, never>();
  for (const [type, amount] of amounts) {
    if (quantitySign(amount) < 0) refuseField(`${key}.${type}`, 'expected at least 0');
  }
  return queueAmounts(amounts);
}

function printed(amounts: QueueAmounts): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from(amounts, ([type, amount]) => [type, decimalText(type, amount)]));
}

/** In plain units, without a suffix. */
function decimalText(type: string, amount: Whole): string {
  const { exponent } = queueQuantity(type, amount);
  if (exponent === 0) return String(amount);
  const digits = String(amount).padStart(4, '0');
  return `${digits.slice(0, exponent)}.${digits.slice(exponent)}`;
}
