import { describe, expect, test } from 'vitest';
import { localStorageExcess } from './local-storage.ts';
import type { DiskLayout } from '#shared/domain/pressure/signal.ts';
import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import { pod, usage } from '#test/shared/domain/ranking/builders.ts';

const MI = 2 ** 20;

function volume(usedBytes: number | undefined) {
  return usage({ volumes: [{ name: 'v', usedBytes, inodesUsed: 0 }] });
}

function emptyDir(emptyDir: object) {
  return { containers: [{ name: 'c' }], volumes: [{ name: 'v', emptyDir }] };
}

function limited(limit: string) {
  return { containers: [{ name: 'c', resources: { limits: { 'ephemeral-storage': limit } } }, { name: 'free' }] };
}

function container(layerMi: number | undefined, logsMi: number | undefined, name = 'c') {
  const logs = { usedBytes: logsMi === undefined ? undefined : logsMi * MI, inodesUsed: 0 };
  return usage({
    containers: [
      {
        name,
        workingSetBytes: 0,
        rootfs: { usedBytes: layerMi === undefined ? undefined : layerMi * MI, inodesUsed: 0 },
        logs,
      },
    ],
  });
}

describe('localStorageExcess', () => {
  const EMPTY_DIR = 'Usage of EmptyDir volume "v" exceeds the limit "64Mi". ';
  const POD = 'Pod ephemeral local storage usage exceeds the total limit of containers ';
  const CONTAINER = 'Container c exceeded its local ephemeral storage limit "64Mi". ';

  test.each<[string, object, PodUsage, DiskLayout, string | undefined]>([
    ['nothing is limited', {}, usage({ ephemeralStorageBytes: 1e12 }), 'single', undefined],
    ['an emptyDir over its limit', emptyDir({ sizeLimit: '64Mi' }), volume(64 * MI + 1), 'single', EMPTY_DIR],
    [
      'an emptyDir in memory over its limit',
      emptyDir({ sizeLimit: '64Mi', medium: 'Memory' }),
      volume(65 * MI),
      'single',
      EMPTY_DIR,
    ],
    ['an emptyDir at its limit', emptyDir({ sizeLimit: '64Mi' }), volume(64 * MI), 'single', undefined],
    ['an emptyDir with limit 0', emptyDir({ sizeLimit: '0' }), volume(1), 'single', undefined],
    ['an emptyDir that was not measured', emptyDir({ sizeLimit: '64Mi' }), volume(undefined), 'single', undefined],
    ['a pod over its limit', limited('64Mi'), usage({ ephemeralStorageBytes: 64 * MI + 1 }), 'single', `${POD}64Mi. `],
    ['a pod at its limit', limited('64Mi'), usage({ ephemeralStorageBytes: 64 * MI }), 'single', undefined],
    ['a pod with limit 0 at its first byte', limited('0'), usage({ ephemeralStorageBytes: 1 }), 'single', `${POD}0. `],
    ['a pod that was not measured', limited('64Mi'), usage(), 'single', undefined],
    ['a container whose layer and logs are over its limit', limited('64Mi'), container(60, 5), 'single', CONTAINER],
    ['the same where layers lie elsewhere', limited('64Mi'), container(60, 5), 'imagesApart', undefined],
    [
      'a container whose logs alone are over its limit',
      limited('64Mi'),
      container(0, 65),
      'imagesAndLayersApart',
      CONTAINER,
    ],
    ['a container whose logs were not measured', limited('64Mi'), container(64, undefined), 'single', undefined],
    ['a layer that counts alone', limited('64Mi'), container(65, undefined), 'single', CONTAINER],
    ['logs that count alone', limited('64Mi'), container(undefined, 65), 'single', CONTAINER],
    ['a layer at its limit, without logs', limited('64Mi'), container(64, 0), 'single', undefined],
    ['logs at their limit, without a layer', limited('64Mi'), container(undefined, 64), 'single', undefined],
    ['a container with limit 0', limited('0'), container(60, 5), 'single', undefined],
    ['a container without a limit', limited('64Mi'), container(60, 5, 'free'), 'single', undefined],
  ])('%s', (_, spec, measured, layout, said) => {
    expect(localStorageExcess(pod('p', { spec }), measured, layout)).toBe(said);
  });
});
