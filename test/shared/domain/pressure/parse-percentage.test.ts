import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePercentage } from '#shared/domain/pressure/parse-percentage.ts';

describe('parsePercentage', () => {
  test.each<[string, number]>([
    ['10%', 0.10000000149011612],
    ['5%', 0.05000000074505806],
    ['33.3%', 0.3330000042915344],
    ['10%%', 0.10000000149011612],
    ['+10%', 0.10000000149011612],
    ['1e1%', 0.10000000149011612],
    ['1_0%', 0.10000000149011612],
    ['.5e1_0%', 50000000],
    ['0x1p3%', 0.07999999821186066],
    ['0x_1p3%', 0.07999999821186066],
    ['0xa.8p0%', 0.10499999672174454],
    ['-1%', -0.009999999776482582],
    ['100.00001%', 1.0000001192092896],
    ['1e-50%', 0],
    ['1e-44%', 0],
    ['1e-99999%', 0],
    ['0%', 0],
    ['-0%', 0],
    ['Inf%', Infinity],
    ['-infinity%', -Infinity],
  ])('reads %j', (text, share) => {
    expect(parsePercentage(text)).toEqual({ ok: true, share });
  });

  test('reads NaN as not a number', () => {
    expect(parsePercentage('nan%')).toEqual({ ok: true, share: NaN });
  });

  test.each<[string, string]>([
    ['%', 'strconv.ParseFloat: parsing "": invalid syntax'],
    [' 10%', 'strconv.ParseFloat: parsing " 10": invalid syntax'],
    ['1,5%', 'strconv.ParseFloat: parsing "1,5": invalid syntax'],
    ['_1%', 'strconv.ParseFloat: parsing "_1": invalid syntax'],
    ['1__0%', 'strconv.ParseFloat: parsing "1__0": invalid syntax'],
    ['1_.5%', 'strconv.ParseFloat: parsing "1_.5": invalid syntax'],
    ['0x1_p3%', 'strconv.ParseFloat: parsing "0x1_p3": invalid syntax'],
    ['0x10%', 'strconv.ParseFloat: parsing "0x10": invalid syntax'],
    ['+nan%', 'strconv.ParseFloat: parsing "+nan": invalid syntax'],
    ['.%', 'strconv.ParseFloat: parsing ".": invalid syntax'],
    ['\u{1F4A5}\n"\u0001\u200b%', 'strconv.ParseFloat: parsing "\u{1F4A5}\\n\\"\\x01\\u200b": invalid syntax'],
    ['\u{E0001}%', 'strconv.ParseFloat: parsing "\\U000e0001": invalid syntax'],
    ['1e50%', 'strconv.ParseFloat: parsing "1e50": value out of range'],
    ['-3.4028236e38%', 'strconv.ParseFloat: parsing "-3.4028236e38": value out of range'],
  ])('refuses %j in the words of Kubernetes', (text, message) => {
    expect(parsePercentage(text)).toEqual({ ok: false, message });
  });

  test('refuses a text that is absurdly long', () => {
    expect(parsePercentage(`${'1'.repeat(300)}%`).ok).toBe(false);
  });

  test('rounds once, where going through a double would round twice', () => {
    const justAboveTheMiddle = '1.00000005960464477539062500001';
    expect(parsePercentage(justAboveTheMiddle)).toEqual({ ok: true, share: Math.fround(1.0000001192092896 / 100) });
  });

  test('agrees with the platform wherever a double has room', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const share = Math.fround(Math.fround(value) / 100) + 0;
        expect(parsePercentage(`${value}%`)).toEqual({ ok: true, share });
      }),
    );
  });
});
