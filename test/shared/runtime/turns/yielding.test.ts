import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { yielding } from '#shared/runtime/turns/turns.ts';

function arrived(pieces: readonly string[]): AsyncIterable<string> {
  return Readable.from(pieces);
}

/** What happens when each piece takes so many milliseconds, and something else is due from the start. */
async function orderOf(msPerPiece: number): Promise<readonly string[]> {
  const order: string[] = [];
  let now = 0;
  setImmediate(() => order.push('something else'));
  for await (const piece of yielding(arrived(['a', 'b', 'c']), { monotonic: () => now })) {
    order.push(piece);
    now += msPerPiece;
  }
  return order;
}

test('long work on pieces that have arrived lets other work pass', async () => {
  expect(await orderOf(6)).toEqual(['a', 'something else', 'b', 'c']);
});

test('short work is not interrupted', async () => {
  expect(await orderOf(0.5)).toEqual(['a', 'b', 'c']);
});
