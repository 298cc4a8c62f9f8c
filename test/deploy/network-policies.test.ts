import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { at } from '#test/contract/harness.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
const MAY_READ_METRICS = [{ namespaceSelector: { matchLabels: { 'plimsoll.dev/metrics': 'true' } } }];

function read(file: string): object {
  return parse(readFileSync(`${DEPLOY}${file}`, 'utf8')) as object;
}

function portNames(workload: object): readonly unknown[] {
  return (at(workload, 'spec.template.spec.containers.0.ports') as readonly object[]).map((port) => at(port, 'name'));
}

function tcp(port: string): object {
  return { port, protocol: 'TCP' };
}

describe('network policies', () => {
  test.each([
    ['base/webhook/deployment.yaml', 'base/webhook/network-policy.yaml', ['admission']],
    ['base/agent/daemonset.yaml', 'base/agent/network-policy.yaml', []],
    ['components/controller/deployment.yaml', 'components/controller/network-policy.yaml', []],
  ])('of %s close its metrics to pods, and nothing that must be reached', (workloadFile, policyFile, open) => {
    const workload = read(workloadFile);
    const policy = read(policyFile);
    expect(at(policy, 'spec.podSelector')).toEqual(at(workload, 'spec.selector'));
    expect(at(policy, 'metadata.namespace')).toBe(at(workload, 'metadata.namespace'));
    expect(at(policy, 'spec.policyTypes')).toEqual(['Ingress']);
    expect(at(policy, 'spec.ingress')).toEqual([
      ...open.map((port) => ({ ports: [tcp(port)] })),
      { ports: [tcp('health')], from: MAY_READ_METRICS },
    ]);
    expect(portNames(workload)).toEqual([...open, 'health']);
  });

  test('of the second scheduler closes the metrics of both its containers to pods', () => {
    const [workload, policy] = ['deployment.yaml', 'network-policy.yaml'].map((file) =>
      read(`components/scheduler-second/${file}`),
    );
    expect(at(policy, 'spec.podSelector')).toEqual(at(workload, 'spec.selector'));
    expect(at(policy, 'spec.ingress')).toEqual([{ ports: [tcp('health'), tcp('metrics')], from: MAY_READ_METRICS }]);
    const containers = at(workload, 'spec.template.spec.containers') as readonly object[];
    const ports = containers.flatMap((container) => at(container, 'ports') as readonly object[]);
    expect(ports.map((port) => at(port, 'name'))).toEqual(['health', 'metrics']);
  });
});
