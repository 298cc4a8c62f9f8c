import { describe, expect, test } from 'vitest';
import { missingValues } from '#shared/domain/quota/charge.ts';
import { pod } from '#test/shared/domain/ranking/builders.ts';

const FULL = { requests: { cpu: '1', memory: '1' }, limits: { cpu: '1', memory: '1' } };

function podOf(spec: object) {
  return pod('p', { spec });
}

describe('missingValues', () => {
  test('containers, init containers and sidecars are asked, and listed once by name', () => {
    const containers = [{ name: 'web' }, { name: 'app' }, { name: 'full', resources: FULL }, { name: 'app' }];
    const initContainers = [{ name: 'init' }, { name: 'sidecar', restartPolicy: 'Always', resources: FULL }];
    const missing = missingValues(podOf({ containers, initContainers }), ['memory', 'limits.cpu', 'pods']);
    expect(missing).toBe('limits.cpu for: app,init,web; memory for: app,init,web');
  });

  test('a stated zero is stated', () => {
    const containers = [{ name: 'c', resources: { requests: { cpu: '0' } } }];
    expect(missingValues(podOf({ containers }), ['cpu', 'requests.cpu'])).toBeUndefined();
  });

  test.each(['pods', 'ephemeral-storage', 'hugepages-2Mi', 'requests.example.com/gpu'])(
    '%s is not demanded',
    (name) => {
      expect(missingValues(podOf({ containers: [{ name: 'c' }] }), [name])).toBeUndefined();
    },
  );

  test('a pod with pod-level resources is not asked', () => {
    const spec = { containers: [{ name: 'c' }], resources: { limits: { cpu: '1' } } };
    expect(missingValues(podOf(spec), ['cpu', 'memory'])).toBeUndefined();
  });

  test('empty pod-level resources do not count', () => {
    const spec = { containers: [{ name: 'c' }], resources: {} };
    expect(missingValues(podOf(spec), ['cpu'])).toBe('cpu for: c');
  });
});
