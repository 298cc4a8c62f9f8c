import { describe, expect, test } from 'vitest';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { decodeSeenPod } from '#shared/kube/decode/decode-seen-pod.ts';
import { readRevision } from '#shared/kube/kube-object.ts';

const METADATA = { name: 'web', namespace: 'a', uid: 'u', resourceVersion: '17', generation: 3 };

function seen(spec: object, more: object = {}) {
  const { amounts, ...rest } = decodeSeenPod({ metadata: METADATA, spec, ...more });
  return { ...rest, amounts: amounts && Object.fromEntries([...amounts].map(([name, each]) => [name, print(each)])) };
}

function print(amount: Parameters<typeof formatQuantity>[0]): string {
  return amount.exponent > 18 ? `10^${amount.exponent}` : formatQuantity(amount);
}

function containers(memory: unknown, more: object = {}): object {
  return { containers: [{ name: 'main', resources: { requests: { memory } }, ...more }] };
}

describe('decodeSeenPod', () => {
  test('reads level, generation, revision and cost', () => {
    const spec = { ...containers('1Gi'), priorityClassName: 'high', priority: 7 };
    expect(seen(spec)).toEqual({
      uid: 'u',
      namespace: 'a',
      name: 'web',
      revision: 17,
      generation: 3,
      level: { className: 'high', priority: 7 },
      amounts: {
        'count/pods': '1',
        pods: '1',
        memory: '1Gi',
        'requests.memory': '1Gi',
        'unstated/cpu': '1',
        'unstated/limits.cpu': '1',
        'unstated/limits.memory': '1',
        'unstated/requests.cpu': '1',
      },
    });
  });

  test('a pod that has ended costs its place in storage alone', () => {
    expect(seen(containers('1Gi'), { status: { phase: 'Succeeded' } }).amounts).toEqual({ 'count/pods': '1' });
  });

  test.each<[string, object, object]>([
    ['owners that cannot be read', {}, { metadata: { ...METADATA, ownerReferences: 'none' } }],
    ['rules of placement that cannot be read', { tolerations: 1, affinity: [] }, {}],
    ['ports and volumes that cannot be read', { volumes: 7, ...containers('1Gi', { ports: 'all' }) }, {}],
    ['conditions that cannot be read', {}, { status: { conditions: 1 } }],
  ])('does not care for %s', (_, spec, more) => {
    expect(seen({ ...containers('1Gi'), ...spec }, more).amounts).toMatchObject({ 'requests.memory': '1Gi' });
  });

  test('leaves open what it cannot read, and only that', () => {
    expect(seen({ ...containers([]), priorityClassName: 'high' })).toMatchObject({
      level: { className: 'high', priority: 0 },
      amounts: undefined,
    });
    expect(seen({ ...containers('1Gi'), priority: 'much' })).toMatchObject({
      level: undefined,
      amounts: { memory: '1Gi' },
    });
  });

  test.each(['9'.repeat(5_000), '1e9999', '1e25'])(
    'an amount of %s is above every limit, and no longer than others',
    (text) => {
      expect(seen(containers(text)).amounts).toMatchObject({ memory: '10^24', pods: '1' });
    },
  );

  test.each([undefined, '', 'abc', '-1', '1.5', '1'.repeat(16)])('throws for resourceVersion %s', (resourceVersion) => {
    const metadata = { ...METADATA, resourceVersion };
    expect(() => decodeSeenPod({ metadata } as never)).toThrow('decimal resourceVersion');
    expect(readRevision(resourceVersion)).toBeUndefined();
  });
});
