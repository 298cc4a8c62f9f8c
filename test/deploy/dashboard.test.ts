import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { at } from '#test/contract/harness.ts';

const COMPONENTS = fileURLToPath(new URL('../../deploy/components/', import.meta.url));
const OTHER_KINDS = ['prioritypolicies', 'priorityquotas', 'disruptions', 'queues'];
const READS = ['get', 'list', 'watch'];

function read(file: string): object {
  return parse(readFileSync(`${COMPONENTS}${file}`, 'utf8')) as object;
}

describe('deploy/components/dashboard', () => {
  const [account, role, binding, ...more] = parseAllDocuments(
    readFileSync(`${COMPONENTS}dashboard/rbac.yaml`, 'utf8'),
  ).map((document) => document.toJS() as object);
  const deployment = read('dashboard/deployment.yaml');
  const policy = read('dashboard/network-policy.yaml');
  const selector = at(deployment, 'spec.selector');

  test('grants what the dashboard reads, and two questions to the API server, and nothing that changes an object', () => {
    expect(at(role, 'rules')).toEqual([
      {
        apiGroups: ['plimsoll.dev'],
        resources: ['nodepressures', 'nodepressurepolicies', ...OTHER_KINDS],
        verbs: READS,
      },
      { apiGroups: ['scheduling.k8s.io'], resources: ['priorityclasses'], verbs: READS },
      { apiGroups: [''], resources: ['resourcequotas', 'nodes'], verbs: READS },
      { apiGroups: [''], resources: ['pods', 'namespaces'], verbs: ['list'] },
      { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['list'] },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: READS },
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ]);
  });

  test('grants it to an account of its own, and nothing else to that account', () => {
    expect([at(account, 'kind'), at(account, 'metadata.name'), more]).toEqual([
      'ServiceAccount',
      'plimsoll-dashboard',
      [],
    ]);
    const [name, namespace] = [at(account, 'metadata.name'), at(account, 'metadata.namespace')];
    expect(at(binding, 'subjects')).toEqual([{ kind: 'ServiceAccount', name, namespace }]);
    expect(at(binding, 'roleRef.name')).toBe(at(role, 'metadata.name'));
    expect(at(deployment, 'spec.template.spec.serviceAccountName')).toBe(name);
    for (const other of ['scheduler-second', 'node-controller'])
      expect(at(read(`${other}/deployment.yaml`), 'spec.template.spec.serviceAccountName')).not.toBe(name);
  });

  test('runs in pods of its own, without the extender and without writing to nodes', () => {
    expect(at(deployment, 'spec.template.metadata.labels')).toEqual(at(selector, 'matchLabels'));
    for (const other of ['scheduler-second', 'node-controller'])
      expect(at(read(`${other}/deployment.yaml`), 'spec.selector')).not.toEqual(selector);
    expect(at(read('dashboard/kustomization.yaml'), 'patches')).toBeUndefined();
    expect(at(deployment, 'spec.template.spec.containers.0.args')).toEqual([
      '--extender=Off',
      '--host=127.0.0.1',
      '--nodes-passes=Off',
      '--dashboard-port=8081',
    ]);
  });

  test('lets only labelled namespaces connect, to the page and to the metrics', () => {
    const from = (label: string) => [{ namespaceSelector: { matchLabels: { [label]: 'true' } } }];
    expect(at(policy, 'spec')).toEqual({
      podSelector: selector,
      policyTypes: ['Ingress'],
      ingress: [
        { ports: [{ port: 'dashboard', protocol: 'TCP' }], from: from('plimsoll.dev/dashboard') },
        { ports: [{ port: 'health', protocol: 'TCP' }], from: from('plimsoll.dev/metrics') },
      ],
    });
    expect(at(read('dashboard/service.yaml'), 'spec.selector')).toEqual(at(selector, 'matchLabels'));
    expect(at(deployment, 'spec.template.spec.containers.0.ports')).toEqual([
      { name: 'health', containerPort: 8080 },
      { name: 'dashboard', containerPort: 8081 },
    ]);
  });
});
