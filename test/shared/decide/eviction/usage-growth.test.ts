import { expect, test } from 'vitest';
import {
  advanceGrowth,
  growthOf,
  type GrowthWindows,
  NO_GROWTH,
  regrowthOf,
} from '#shared/decide/eviction/usage-growth.ts';
import { MIB, snapshot } from '#test/agent/node-scene.ts';

/** After passes in which a pod used so much, a second apart; without a figure if `undefined`. */
function windowsAfter(usages: readonly (number | undefined)[]): GrowthWindows {
  return usages.reduce((windows: GrowthWindows, usageMiB, second) => {
    const pod = usageMiB === undefined ? { name: 'hog' } : { name: 'hog', usageMiB };
    const measured = { at: second * 1000, available: 0 };
    return advanceGrowth(windows, snapshot({ now: second * 1000, pods: [pod] }), measured);
  }, NO_GROWTH);
}

const uid = 'uid-hog';

test('a pod that starts again has grown since it fell, in the last seconds alone', () => {
  const windows = windowsAfter([500, 600, 10, 200]);
  expect(regrowthOf(windows, uid, 300 * MIB)).toEqual([290, -200, -200].map((each) => each * MIB));
  expect(growthOf(windows, uid, 300 * MIB)).toEqual([-200, -200, -200].map((each) => each * MIB));
});

test.each([
  ['fell by less than half', [500, 260, 400]],
  ['had no figure for a moment', [500, undefined, 400]],
])('a pod that %s did not start again', (_, usages) => {
  expect(regrowthOf(windowsAfter(usages), uid, 400 * MIB)[0]).toBe(-100 * MIB);
});

test('a fall is forgotten with its window', () => {
  const windows = windowsAfter([500, 10, ...Array.from({ length: 12 }, () => 480)]);
  expect(regrowthOf(windows, uid, 500 * MIB)[0]).toBe(20 * MIB);
});
