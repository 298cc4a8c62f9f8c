import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OversizedLineError, splitFrames } from '#shared/kube/reflector/split-frames.ts';
import { chunks } from '#test/build/chunks.ts';

async function frames(bytes: Buffer, chunkSize: number, largest = 1_000): Promise<string[]> {
  const found: string[] = [];
  for await (const frame of splitFrames(chunks(bytes, chunkSize), largest)) found.push(frame.toString());
  return found;
}

function frame(content: string): Buffer {
  const bytes = Buffer.from(content);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(bytes.length);
  return Buffer.concat([head, bytes]);
}

describe('splitFrames', () => {
  test('any frames in any pieces, but for one that was interrupted', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme' })),
        fc.integer({ min: 1, max: 9 }),
        async (contents, size) => {
          const cutOff = frame('interrupted').subarray(0, size);
          expect(await frames(Buffer.concat([...contents.map(frame), cutOff]), size)).toEqual(contents);
        },
      ),
    );
  });

  test.each([1, 7, 5_000])(
    'gives up on a frame above the limit as soon as it says so, in pieces of %d',
    async (size) => {
      const large = Buffer.concat([frame('ok'), frame('x'.repeat(1_001)).subarray(0, 10)]);
      await expect(frames(large, size)).rejects.toBeInstanceOf(OversizedLineError);
      expect(await frames(frame('x'.repeat(1_000)), size)).toEqual(['x'.repeat(1_000)]);
    },
  );
});
