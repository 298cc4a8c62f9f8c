import { describe, expect, test } from 'vitest';
import { readableAmount, readableBytes } from '#shared/domain/quantity/format-quantity.ts';

describe('readableAmount', () => {
  test.each([
    ['21112844Ki', '20.1Gi'],
    ['1642180Ki', '1.6Gi'],
    ['1048575Ki', '1Gi'],
    ['1023Ki', '1023Ki'],
    ['100Mi', '100Mi'],
    ['1536Mi', '1.5Gi'],
    ['153600Mi', '150Gi'],
    ['1.5Gi', '1.5Gi'],
    ['0Ki', '0'],
    ['500m', '500m'],
    ['4', '4'],
    ['5%', '5%'],
    ['', ''],
    ['no amount', 'no amount'],
  ])('%s is shown as %s', (text, shown) => {
    expect(readableAmount(text)).toBe(shown);
  });
});

describe('readableBytes', () => {
  test.each([
    [1_263_825_119, '1.2Gi'],
    [1_023, '1023'],
    [0, '0'],
    [-2_097_152, '-2Mi'],
    [2 ** 80, '1048576Ei'],
  ])('%d is shown as %s', (bytes, shown) => {
    expect(readableBytes(bytes)).toBe(shown);
  });
});
