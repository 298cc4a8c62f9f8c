import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UnreadableMessageError } from '#shared/kube/protobuf/decode-message.ts';
import { scanProtobufItems } from '#shared/kube/protobuf/scan-list.ts';
import { chunks } from '#test/build/chunks.ts';
import { bytesField, encodeEnvelope } from '#test/build/encode-message.ts';

const metadata = bytesField(1, Buffer.concat([bytesField(2, Buffer.from('5')), bytesField(3, Buffer.from('more'))]));

function list(...fields: readonly Buffer[]): Buffer {
  return encodeEnvelope('v1', 'PodList', Buffer.concat(fields));
}

function item(content: string): Buffer {
  return bytesField(2, Buffer.from(content));
}

async function scan(bytes: Buffer, chunkSize = 65_536, largest = 1_000_000) {
  const items: string[] = [];
  const found = await scanProtobufItems(chunks(bytes, chunkSize), (each) => items.push(each.toString()), largest);
  return { items, metadata: found };
}

describe('scanProtobufItems', () => {
  test('hands out the items and the metadata, in whatever pieces they come', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 300 })),
        fc.integer({ min: 1, max: 50 }),
        async (items, size) => {
          const bytes = list(metadata, ...items.map(item), bytesField(15, Buffer.from('of a later version')));
          expect(await scan(bytes, size)).toEqual({ items, metadata: { resourceVersion: '5', continue: 'more' } });
        },
      ),
    );
  });

  test('what stands behind the list is passed over', async () => {
    expect((await scan(Buffer.concat([list(item('a')), bytesField(3, Buffer.from('none'))]))).items).toEqual(['a']);
  });

  const whole = list(metadata, item('a'), item('b'));
  test.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['an envelope without a list', Buffer.from('k8s\0')],
    ['JSON', Buffer.from('{"items":[]}')],
    ['a list cut between items', whole.subarray(0, -3)],
    ['a cut-off item', whole.subarray(0, -1)],
    ['an item that is a number', list(Buffer.from([0x10, 1]))],
    ['an item that ends behind the list', list(metadata, item('a').fill(9, 1, 2))],
    ['a number that does not end', Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(30, 0xff)])],
  ])('refuses %s', async (_, bytes) => {
    await expect(scan(Buffer.concat([bytes]), 7)).rejects.toBeInstanceOf(UnreadableMessageError);
  });

  test('refuses an item above the limit without waiting for it', async () => {
    const large = list(item('x'.repeat(2_000)));
    await expect(scan(large.subarray(0, 60), 10, 1_000)).rejects.toThrow('an item is longer than 1000 bytes');
    expect((await scan(large, 100, 3_000)).items).toHaveLength(1);
  });
});
