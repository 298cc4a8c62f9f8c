import { describe, expect, test } from 'vitest';
import type { ContainerPort } from '#shared/domain/pod/pod.ts';
import type { PodFields } from '#test/build/cluster.ts';
import { refusal, refused } from './refusal-on-node.ts';

describe('NodePorts', () => {
  const port = (fields: Partial<ContainerPort>): ContainerPort => ({
    hostPort: 8080,
    hostIP: '',
    protocol: '',
    ...fields,
  });
  const holding = (name: string, ports: readonly ContainerPort[], restartPolicy?: string): PodFields => {
    const resources = { requests: undefined, limits: undefined };
    const container = { name: 'c', resources, restartPolicy, ports };
    const spec = restartPolicy === undefined ? { containers: [container] } : { initContainers: [container] };
    return { name, spec: { nodeName: name === 'incoming' ? undefined : 'n0', ...spec } };
  };

  test.each([
    ['the same port', port({}), port({}), false],
    ['another port', port({}), port({ hostPort: 9090 }), true],
    ['another protocol', port({}), port({ protocol: 'UDP' }), true],
    ['TCP is the default', port({}), port({ protocol: 'TCP' }), false],
    ['every address against one', port({}), port({ hostIP: '10.0.0.1' }), false],
    ['one address against every', port({ hostIP: '10.0.0.1' }), port({ hostIP: '0.0.0.0' }), false],
    ['two addresses', port({ hostIP: '10.0.0.1' }), port({ hostIP: '10.0.0.2' }), true],
    ['port 0 is no host port', port({ hostPort: 0 }), port({ hostPort: 0 }), true],
  ])('%s', (_, wanted, taken, fits) => {
    const found = refusal(holding('incoming', [wanted]), { pods: [holding('p', [taken])] });
    const reason = "node(s) didn't have free ports for the requested pod ports";
    expect(found).toEqual(fits ? undefined : refused('NodePorts', true, reason));
  });

  test('sidecars hold their ports, other init containers do not', () => {
    const wanted = holding('incoming', [port({})]);
    expect(refusal(wanted, { pods: [holding('p', [port({})], 'Always')] })?.filter).toBe('NodePorts');
    expect(refusal(wanted, { pods: [holding('p', [port({})], 'Never')] })).toBeUndefined();
  });
});
