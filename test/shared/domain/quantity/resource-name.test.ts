import { describe, expect, test } from 'vitest';
import { isExtendedResource, isNativeResource } from '#shared/domain/quantity/resource-columns.ts';

describe('resource names', () => {
  test.each([
    ['cpu', true, false],
    ['hugepages-2Mi', true, false],
    ['kubernetes.io/batch-cpu', true, false],
    ['vendor.kubernetes.io/x', true, false],
    ['nvidia.com/gpu', false, true],
    ['requests.nvidia.com/gpu', false, false],
    ['example.com/', false, false],
    ['Example.com/a', false, false],
  ])('%s', (name, isNative, isExtended) => {
    expect([isNativeResource(name), isExtendedResource(name)]).toEqual([isNative, isExtended]);
  });
});
