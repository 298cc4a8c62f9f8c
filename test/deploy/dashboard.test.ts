import { describe, expect, test } from 'vitest';
import { ACCOUNTS } from '#shared/kube/accounts/accounts.ts';
import { PART_RIGHTS } from '#shared/kube/accounts/rights.ts';
import { at } from '#test/contract/harness.ts';
import { buildFolder } from '#tools/manifests/kustomize/build-folder.ts';

describe('deploy/overlays/dashboard', () => {
  const objects = buildFolder('deploy/overlays/dashboard');
  const find = (kind: string, name: string): unknown =>
    objects.find((each) => each.kind === kind && each.metadata.name === name);
  const deployment = find('Deployment', 'plimsoll-controller');
  const selector = at(deployment, 'spec.selector');

  test('grants what the dashboard reads, and two questions to the API server, and nothing that changes an object', () => {
    const reads = ['get', 'list', 'watch'];
    for (const { group, resources, verbs } of PART_RIGHTS.dashboard) {
      const isQuestion = /^(authentication|authorization)\.k8s\.io$/.test(group);
      const allowed: readonly string[] = isQuestion ? ['create'] : reads;
      expect([resources, verbs.filter((verb) => !allowed.includes(verb))]).toEqual([resources, []]);
    }
    expect(ACCOUNTS.controller.name).toBe(at(deployment, 'spec.template.spec.serviceAccountName'));
  });

  test('lets only labelled namespaces connect, to the page and to the metrics', () => {
    const from = (label: string) => [{ namespaceSelector: { matchLabels: { [label]: 'true' } } }];
    const ingress = ['plimsoll-dashboard', 'plimsoll-controller'].map((name) => {
      const policy = find('NetworkPolicy', name);
      expect([at(policy, 'spec.podSelector'), at(policy, 'spec.policyTypes')]).toEqual([selector, ['Ingress']]);
      return at(policy, 'spec.ingress');
    });
    expect(ingress).toEqual([
      [{ ports: [{ port: 'dashboard', protocol: 'TCP' }], from: from('plimsoll.dev/dashboard') }],
      [{ ports: [{ port: 'health', protocol: 'TCP' }], from: from('plimsoll.dev/metrics') }],
    ]);
    const service = find('Service', 'plimsoll-dashboard');
    expect(at(service, 'spec.selector')).toEqual(at(selector, 'matchLabels'));
    expect(at(deployment, 'spec.template.spec.containers.0.ports')).toEqual([
      { name: 'health', containerPort: 8080 },
      { name: 'dashboard', containerPort: 8081 },
    ]);
  });
});
