import { describe, expect, test } from 'vitest';
import { DemandMeter } from '#shared/domain/quota/ledger/slices.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { printAmounts } from '#test/conformance/print-amounts.ts';

describe('the demand of the last two windows of five seconds', () => {
  test.each<[string, readonly number[], number, number]>([
    ['nothing', [], 0, 0],
    ['what was charged just now', [0, 0], 0, 2],
    ['what was charged in this window', [0, 4_999], 4_999, 2],
    ['what was charged in the window before', [0], 9_999, 1],
    ['what was charged in both', [0, 5_000], 9_999, 2],
    ['not what was charged before', [0, 5_000], 10_000, 1],
    ['nothing after two windows', [0], 10_000, 0],
    ['nothing of a window after a long pause', [0, 20_000], 20_000, 1],
    ['nothing after a window without any', [0, 5_000], 15_000, 0],
    ['nothing of a window that began before its first charge', [4_000], 13_999, 0],
  ])('has %s: charges at %j, seen at %s: %s', (_, charges, now, pods) => {
    const meter = new DemandMeter(0);
    for (const at of charges) meter.add(amountsOf({ pods: '1' }), at);
    expect(meter.lately(now).pods).toBe(pods);
  });

  test('knows the largest of each resource', () => {
    const meter = new DemandMeter(0);
    meter.add(amountsOf({ memory: '2Gi', cpu: '1' }), 0);
    meter.add(amountsOf({ memory: '1Gi', cpu: '3' }), 5_000);
    meter.add(amountsOf({ memory: '1Gi', pods: '1' }), 5_000);
    expect(printAmounts(meter.lately(5_000).largest)).toEqual({ memory: '2Gi', cpu: '3', pods: '1' });
    expect(printAmounts(meter.lately(10_000).largest)).toEqual({ memory: '1Gi', cpu: '3', pods: '1' });
    expect(printAmounts(meter.lately(15_000).largest)).toEqual({});
  });
});
