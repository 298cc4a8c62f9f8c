import { describe, expect, test } from 'vitest';
import { MessageCursor, UnreadableMessageError } from '#shared/kube/protobuf/decode-message.ts';

function fieldsOf(...bytes: readonly number[]) {
  const cursor = new MessageCursor(Buffer.from(bytes));
  const found: object[] = [];
  while (cursor.next()) found.push({ field: cursor.field, integer: cursor.integer, text: cursor.text });
  return found;
}

describe('MessageCursor', () => {
  test('goes over fields of every wire type', () => {
    const [fixed64, fixed32] = [
      [0x11, 1, 2, 3, 4, 5, 6, 7, 8],
      [0x1d, 1, 2, 3, 4],
    ] as const;
    expect(fieldsOf(0x08, 0xac, 0x02, ...fixed64, ...fixed32, 0x82, 0x02, 2, 0x68, 0x69)).toEqual([
      { field: 1, integer: 300, text: '' },
      { field: 2, integer: 0, text: '' },
      { field: 3, integer: 0, text: '' },
      { field: 32, integer: 0, text: 'hi' },
    ]);
  });

  test.each<[string, number, readonly number[]]>([
    ['a negative number', -2_000, [0xb0, 0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]],
    ['the largest priority', 2_000_001_000, [0xe8, 0xaf, 0xd6, 0xb9, 0x07]],
    ['the least', -(2 ** 31), [0x80, 0x80, 0x80, 0x80, 0xf8, 0xff, 0xff, 0xff, 0xff, 0x01]],
  ])('reads %s of 32 bits', (_, expected, bytes) => {
    const cursor = new MessageCursor(Buffer.from([0x08, ...bytes]));
    cursor.next();
    expect(cursor.int32).toBe(expected);
  });

  test('a number of 53 bits is exact', () => {
    expect(fieldsOf(0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f)).toMatchObject([{ integer: 2 ** 53 - 1 }]);
  });

  test.each<[string, readonly number[]]>([
    ['a number that does not end', [0x08, 0x80]],
    ['a number of eleven bytes', [0x08, ...Array<number>(10).fill(0x80), 0]],
    ['a text that is cut off', [0x0a, 3, 0x68]],
    ['a fixed number that is cut off', [0x0d, 1, 2]],
    ['a group', [0x0b]],
    ['an unknown wire type', [0x0f]],
  ])('refuses %s', (_, bytes) => {
    expect(() => fieldsOf(...bytes)).toThrow(UnreadableMessageError);
  });
});
