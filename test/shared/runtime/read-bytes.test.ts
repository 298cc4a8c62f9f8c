import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { readBytes } from '#shared/runtime/read-bytes.ts';

describe('readBytes', () => {
  test('puts the pieces together, up to the limit', async () => {
    const bytes = await readBytes(Readable.from([Buffer.from('ab'), Buffer.from('cd')]), 4);
    expect(bytes.toString()).toBe('abcd');
  });

  test('reads no further than the limit', async () => {
    const stream = Readable.from([Buffer.from('ab'), Buffer.from('cde'), Buffer.from('f')]);
    await expect(readBytes(stream, 4)).rejects.toThrow(Error);
    expect(stream.destroyed).toBe(true);
  });
});
