import { describe, expect, test } from 'vitest';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { required } from '#test/conformance/required.ts';

describe('decodePod', () => {
  test('what is absent or null is undefined or empty', () => {
    const empty = required(decodePod({}));
    expect(required(decodePod({ metadata: null, spec: null, status: null }))).toEqual(empty);
    expect(
      required(decodePod({ metadata: {}, spec: { containers: null, affinity: {} }, status: { conditions: null } })),
    ).toEqual(empty);
    expect(empty.spec.resources).toBeUndefined();
    expect(empty.spec.containers).toEqual([]);
  });

  test('an empty object is not an absent one', () => {
    const pod = required(decodePod({ spec: { resources: {} }, status: { resources: {} } }));
    expect([pod.spec.resources, pod.status.resources]).toEqual(
      Array(2).fill({ requests: undefined, limits: undefined }),
    );
  });

  test('unknown fields are passed over', () => {
    expect(decodePod({ spec: { wings: 2 } })).toEqual(decodePod({}));
  });

  test('quantities may be numbers, null, or have white space around', () => {
    const overhead = { cpu: 1.5, memory: null, pods: '\u00a01k ' };
    const pod = required(decodePod({ spec: { overhead } }));
    expect([...pod.spec.overhead.values()].map(formatQuantity)).toEqual(['1500m', '0', '1k']);
  });

  test('no text that the API server stores is too long: names are cut, amounts stay large', () => {
    const long = 'n'.repeat(5_000);
    const owner = { apiVersion: long, kind: long, name: long, uid: long };
    const containers = [{ name: 'main', resources: { requests: { cpu: '9'.repeat(5_000), memory: '1Gi' } } }];
    const pod = required(
      decodePod({
        metadata: { name: 'web', ownerReferences: [owner] },
        spec: { containers, volumes: [{ name: 'v', emptyDir: { sizeLimit: '9'.repeat(5_000) } }] },
        status: { reason: long, conditions: [{ type: 'Ready', status: 'True', reason: long }] },
      }),
    );
    const cut = 'n'.repeat(4_096);
    expect(pod.owners).toEqual([{ apiVersion: cut, kind: cut, name: cut, uid: cut, isController: false }]);
    expect(pod.status.conditions).toEqual([{ type: 'Ready', status: 'True', reason: cut }]);
    const { cpu, memory } = Object.fromEntries(pod.spec.containers[0]?.resources.requests ?? []);
    expect(cpu).toMatchObject({ mantissa: 1, exponent: 128 });
    expect(memory && formatQuantity(memory)).toBe('1Gi');
  });

  test('a volume is known by its source', () => {
    const volumes = [
      { name: 'a', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
      { name: 'b', emptyDir: null, hostPath: { path: '/' } },
      { name: 'c' },
    ];
    expect(required(decodePod({ spec: { volumes } })).spec.volumes).toEqual([
      { name: 'a', source: 'emptyDir', emptyDirMedium: 'Memory', emptyDirSizeLimit: '1Gi' },
      { name: 'b', source: 'hostPath', emptyDirMedium: '', emptyDirSizeLimit: undefined },
      { name: 'c', source: '', emptyDirMedium: '', emptyDirSizeLimit: undefined },
    ]);
  });

  const preferred = { weight: 1, podAffinityTerm: { topologyKey: 'zone', namespaces: ['b'] } };
  test('preferred terms are kept without their weights', () => {
    const affinity = {
      podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [preferred] },
      podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 2 }] },
    };
    const { preferredPodTerms } = required(decodePod({ spec: { affinity } })).spec.scheduling;
    expect(preferredPodTerms.map(({ topologyKey, namespaces }) => [topologyKey, namespaces])).toEqual([
      ['zone', ['b']],
      ['', []],
    ]);
  });

  test.each([
    ['no object', 7, '', 'expected an object'],
    ['a list', [], '', 'expected an object'],
    ['a name that is no text', { metadata: { name: 7 } }, 'metadata.name', 'expected a text, got 7'],
    ['labels that are no object', { metadata: { labels: [] } }, 'metadata.labels', 'expected an object, got a list'],
    [
      'a label that is no text',
      { metadata: { labels: { a: {} } } },
      'metadata.labels.a',
      'expected a text, got an object',
    ],
    [
      'a time that is none',
      { metadata: { creationTimestamp: 'soon' } },
      'metadata.creationTimestamp',
      'expected a time such as 2026-01-31T12:00:00Z, got "soon"',
    ],
    [
      'a fraction of a second',
      { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0.5 } },
      'metadata.deletionGracePeriodSeconds',
      'expected a whole number, got 0.5',
    ],
    ['containers that are no list', { spec: { containers: 'a' } }, 'spec.containers', 'expected a list, got "a"'],
    [
      'a container that is no object',
      { spec: { containers: [{}, 3] } },
      'spec.containers[1]',
      'expected an object, got 3',
    ],
    [
      'a host network of text',
      { spec: { hostNetwork: 'yes' } },
      'spec.hostNetwork',
      'expected true or false, got "yes"',
    ],
    [
      'a priority of more than 32 bits',
      { spec: { priority: 2147483648 } },
      'spec.priority',
      'expected a 32-bit number, got 2147483648',
    ],
    [
      'a quantity that is none',
      { spec: { containers: [{ resources: { limits: { cpu: '1x' } } }] } },
      'spec.containers[0].resources.limits.cpu',
      'expected a quantity such as 500m, 2 or 1Gi, got "1x"',
    ],
    [
      'a quantity of an unknown unit',
      { spec: { overhead: { cpu: '1K' } } },
      'spec.overhead.cpu',
      'expected a suffix such as m, k, M, Ki, Mi or an exponent, got "1K"',
    ],
    [
      'a quantity without number',
      { spec: { overhead: { cpu: 'Ei' } } },
      'spec.overhead.cpu',
      'expected a number before the suffix, got "Ei"',
    ],
    [
      'a quantity that is an object',
      { spec: { overhead: { cpu: {} } } },
      'spec.overhead.cpu',
      'expected a quantity, got an object',
    ],
    [
      'a long text that is no quantity',
      { spec: { overhead: { cpu: 'x'.repeat(5_000) } } },
      'spec.overhead.cpu',
      `${`expected a quantity such as 500m, 2 or 1Gi, got "${'x'.repeat(500)}`.slice(0, 500)}…`,
    ],
    [
      'a value that is no text',
      { spec: { tolerations: [{ key: true }] } },
      'spec.tolerations[0].key',
      'expected a text, got true',
    ],
    [
      'a namespace that is no text',
      {
        spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaces: [1] }] } } },
      },
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaces[0]',
      'expected a text, got 1',
    ],
  ])('%s is refused by the name of the field', (_, raw, field, message) => {
    expect(decodePod(raw)).toEqual({ ok: false, field, message });
  });
});
