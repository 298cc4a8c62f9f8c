import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { at } from '#test/contract/harness.ts';

const BASE = fileURLToPath(new URL('../../deploy/base/', import.meta.url));
const MAY_READ_METRICS = [{ namespaceSelector: { matchLabels: { 'plimsoll.dev/metrics': 'true' } } }];

function read(file: string): object {
  return parse(readFileSync(`${BASE}${file}`, 'utf8')) as object;
}

function portNames(workload: object): readonly unknown[] {
  return (at(workload, 'spec.template.spec.containers.0.ports') as readonly object[]).map((port) => at(port, 'name'));
}

describe('network policies', () => {
  test.each([
    ['webhook/deployment.yaml', 'webhook/network-policy.yaml', ['admission']],
    ['agent/daemonset.yaml', 'agent/network-policy.yaml', []],
  ])('of %s close its metrics to pods, and nothing that must be reached', (workloadFile, policyFile, open) => {
    const workload = read(workloadFile);
    const policy = read(policyFile);
    expect(at(policy, 'spec.podSelector')).toEqual(at(workload, 'spec.selector'));
    expect(at(policy, 'metadata.namespace')).toBe(at(workload, 'metadata.namespace'));
    expect(at(policy, 'spec.policyTypes')).toEqual(['Ingress']);
    expect(at(policy, 'spec.ingress')).toEqual([
      ...open.map((port) => ({ ports: [{ port }] })),
      { ports: [{ port: 'health' }], from: MAY_READ_METRICS },
    ]);
    expect(portNames(workload)).toEqual([...open, 'health']);
  });
});
