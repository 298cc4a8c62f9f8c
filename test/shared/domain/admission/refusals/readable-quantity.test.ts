import { expect, test } from 'vitest';
import { readableQuantity } from '#shared/domain/admission/quota-refusals.ts';
import { quantity } from '#test/shared/domain/pressure/threshold-builder.ts';

test.each([
  ['7680Mi', '7.5Gi'],
  ['1280Mi', '1.25Gi'],
  ['1281Mi', '1281Mi'],
  ['1024Mi', '1Gi'],
  ['1Ki', '1Ki'],
  ['1536', '1536'],
  ['1023Ki', '1023Ki'],
  ['3Ei', '3Ei'],
  ['5000', '5k'],
  ['1500m', '1500m'],
])('%s reads as %s', (text, expected) => {
  expect(readableQuantity(quantity(text))).toBe(expected);
});
