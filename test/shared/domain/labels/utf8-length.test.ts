import fc from 'fast-check';
import { expect, test } from 'vitest';
import { utf8Length } from '#shared/domain/labels/label-selector.ts';

test('counts what an encoder writes, for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) }), (text) => {
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
    }),
  );
});
