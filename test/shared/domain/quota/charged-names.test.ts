import { describe, expect, test } from 'vitest';
import { namesOfLimit, namesOfRequest } from '#shared/domain/quota/charge.ts';
import { countsPods } from '#shared/domain/quota/priority-quota.ts';

describe('namesOfRequest', () => {
  test.each([
    ['cpu is charged under two names', 'cpu', ['cpu', 'requests.cpu']],
    ['so is storage', 'ephemeral-storage', ['ephemeral-storage', 'requests.ephemeral-storage']],
    ['so are huge pages', 'hugepages-2Mi', ['hugepages-2Mi', 'requests.hugepages-2Mi']],
    ['a device only as a request', 'nvidia.com/gpu', ['requests.nvidia.com/gpu']],
    [
      'a device class, native as its name is',
      'deviceclass.resource.kubernetes.io/gpu.example.com',
      ['requests.deviceclass.resource.kubernetes.io/gpu.example.com'],
    ],
    ['a native name with a domain is not charged', 'kubernetes.io/batch-cpu', []],
    ['nor one that only ends in that domain', 'vendor.kubernetes.io/x', []],
    ['nor an unknown name without a domain', 'pods', []],
    ['nor what looks like a quota entry', 'requests.example.com/foo', []],
    ['nor a name too long for a quota entry', `example.com/${'x'.repeat(64)}`, []],
  ])('%s', (_, resource, names) => {
    expect(namesOfRequest(resource)).toEqual(names);
  });
});

describe('namesOfLimit', () => {
  test.each([
    ['memory', ['limits.memory']],
    ['hugepages-2Mi', []],
    ['nvidia.com/gpu', []],
  ])('%s', (resource, names) => {
    expect(namesOfLimit(resource)).toEqual(names);
  });
});

describe('countsPods', () => {
  test.each([
    'pods',
    'count/pods',
    'cpu',
    'requests.memory',
    'limits.ephemeral-storage',
    'hugepages-2Mi',
    'requests.hugepages-1Gi',
    'requests.nvidia.com/gpu',
    'requests.deviceclass.resource.kubernetes.io/gpu.example.com',
  ])('yes: %s', (name) => {
    expect(countsPods(name)).toBe(true);
  });

  test.each([
    'services',
    'count/services',
    'count/deployments.apps',
    'persistentvolumeclaims',
    'requests.storage',
    'limits.hugepages-2Mi',
    'limits.nvidia.com/gpu',
    'nvidia.com/gpu',
    'requests.kubernetes.io/batch-cpu',
    '',
    'gold.deviceclass.resource.k8s.io/devices',
  ])('no: %s', (name) => {
    expect(countsPods(name)).toBe(false);
  });
});
