import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseItem, scanItems, UnreadableListError } from '#shared/kube/list/list-scanner.ts';
import { chunks } from '#test/build/chunks.ts';

async function scan(text: string | Buffer, chunkSize = 65_536, largest = 1_000_000) {
  const items: unknown[] = [];
  const onItem = (json: Buffer): unknown => items.push(parseItem(json));
  const metadata = await scanItems(chunks(Buffer.from(text), chunkSize), onItem, largest);
  return { items, metadata };
}

describe('scanItems', () => {
  test('hands out items, and the metadata at the end, wherever it stands', async () => {
    const expected = { items: [{ a: 1 }, { b: { items: [2] } }], metadata: { resourceVersion: '5' } };
    expect(await scan('{"kind":"L","metadata":{"resourceVersion":"5"},"items":[{"a":1},{"b":{"items":[2]}}]}')).toEqual(
      expected,
    );
    expect(await scan('{"items" : [ {"a":1} ,\n{"b":{"items":[2]}} ] ,"metadata":{"resourceVersion":"5"}}')).toEqual(
      expected,
    );
  });

  test.each(['{"metadata":{},"items":[]}', '{"metadata":{},"items":null}', '{"metadata":{}}'])(
    '%s has no items',
    async (text) => {
      expect(await scan(text)).toEqual({ items: [], metadata: {} });
    },
  );

  test.each<[string, string]>([
    ['nothing', ''],
    ['a cut-off list', '{"metadata":{},"items":[{"a":1},{"a"'],
    ['a list cut between items', '{"metadata":{},"items":[{"a":1}'],
    ['an item that is no JSON', '{"items":[{"a":}]}'],
    ['a missing comma', '{"items":[{"a":1}{"a":2}]}'],
    ['an item that is no object', '{"items":[{"a":1},7]}'],
    ['a zero among the items', '{"items":[0,{"a":1}]}'],
    ['a list of lists', '{"items":[[{"a":1}]]}'],
    ['no object', '[{"a":1}]'],
    ['closing brackets only', ']}]}'],
    ['a page of a proxy', '<html>{"items":[{}]}</html>'],
  ])('refuses %s', async (_, text) => {
    await expect(scan(text)).rejects.toBeInstanceOf(UnreadableListError);
  });

  test('refuses an item above the limit without holding more than it', async () => {
    const text = `{"items":[{"a":"${'x'.repeat(2_000)}"}]}`;
    await expect(scan(text, 100, 1_000)).rejects.toThrow('an item is longer than 1000 bytes');
    expect((await scan(text, 100, 3_000)).items).toHaveLength(1);
  });

  test('reads what JSON.parse reads, in whatever pieces it comes', async () => {
    const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(fc.array(object), object, fc.integer({ min: 1, max: 50 }), async (items, around, size) => {
        const text = JSON.stringify({ ...around, items, metadata: around });
        expect(await scan(text, size)).toEqual({
          items: JSON.parse(JSON.stringify(items)) as unknown,
          metadata: JSON.parse(JSON.stringify(around)) as unknown,
        });
      }),
    );
  });
});
