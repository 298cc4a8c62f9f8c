import { describe, expect, test } from 'vitest';
import { readableAmount } from '#dashboard/readable-amount.ts';

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
    ['0Ki', '0Ki'],
    ['500m', '500m'],
    ['4', '4'],
    ['5%', '5%'],
    ['', ''],
    ['no amount', 'no amount'],
  ])('%s is shown as %s', (text, shown) => {
    expect(readableAmount(text)).toBe(shown);
  });
});
