import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OversizedLineError, splitLines } from '#shared/kube/reflector/split-frames.ts';
import { chunks } from '#test/build/chunks.ts';

async function lines(text: string, chunkSize: number, largest = 1_000): Promise<string[]> {
  const found: string[] = [];
  for await (const line of splitLines(chunks(Buffer.from(text), chunkSize), largest)) found.push(line.toString());
  return found;
}

describe('splitLines', () => {
  test('drops a last line that was interrupted', async () => {
    expect(await lines('one\ntwo\nthr', 4)).toEqual(['one', 'two']);
  });

  test('any text in any pieces gives its lines', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme' })),
        fc.integer({ min: 1, max: 9 }),
        async (parts, size) => {
          const whole = parts.map((part) => part.replaceAll('\n', ' '));
          expect(await lines(whole.map((line) => `${line}\n`).join(''), size)).toEqual(whole);
        },
      ),
    );
  });

  test.each([1, 7, 5_000])('gives up on a line above the limit, in pieces of %d', async (size) => {
    await expect(lines(`ok\n${'x'.repeat(1_001)}\n`, size)).rejects.toBeInstanceOf(OversizedLineError);
    await expect(lines('x'.repeat(5_000), size)).rejects.toBeInstanceOf(OversizedLineError);
  });
});
