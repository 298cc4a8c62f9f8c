import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { at } from '#test/contract/harness.ts';
import { readKustomization } from '#tools/manifests/kustomize/kustomization.ts';
import { buildFolder } from '#tools/manifests/kustomize/build-folder.ts';
import type { Manifest } from '#tools/manifests/manifest.ts';

const DEPLOY = 'deploy/';

function readAll(file: string): readonly object[] {
  return parseAllDocuments(readFileSync(DEPLOY + file, 'utf8')).map((document) => document.toJS() as object);
}

/** The pods of Plimsoll: namespace, labels and the names of their ports. */
const PODS = [
  'base/webhook/deployment.yaml',
  'base/agent/daemonset.yaml',
  'components/scheduler-second/deployment.yaml',
  'components/controller/deployment.yaml',
].map((file) => {
  const [workload = {}] = readAll(file);
  const containers = at(workload, 'spec.template.spec.containers') as readonly object[];
  return {
    name: String(at(workload, 'metadata.name')),
    namespace: at(workload, 'metadata.namespace'),
    labels: at(workload, 'spec.template.metadata.labels') as Readonly<Record<string, string>>,
    ports: containers.flatMap((container) =>
      (at(container, 'ports') as readonly object[]).map((port) => at(port, 'name')),
    ),
  };
});

/** The pods that a selector in a namespace selects. */
function selected(namespace: unknown, selector: unknown): readonly (typeof PODS)[number][] {
  const wanted = Object.entries(at(selector, 'matchLabels') as Readonly<Record<string, string>>);
  return PODS.filter((pod) => pod.namespace === namespace && wanted.every(([key, value]) => pod.labels[key] === value));
}

/** The target labels that an endpoint drops, as regular expressions. */
function droppedLabels(endpoint: object): readonly unknown[] {
  const relabelings = at(endpoint, 'relabelings') as readonly object[];
  return relabelings.filter((each) => at(each, 'action') === 'labeldrop').map((each) => at(each, 'regex'));
}

describe('components', () => {
  test('taken away from what has all of them, leave deploy/base as it is', () => {
    const nameOf = (object: Manifest) => `${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`;
    const everything = buildFolder(`${DEPLOY}overlays/everything`);
    const { components } = readKustomization(`${DEPLOY}overlays/everything`);
    expect(components.length).toBeGreaterThan(8);
    const taken = components.flatMap((path) => {
      const folder = join('overlays/everything', path);
      const { resources } = readKustomization(join(DEPLOY, folder));
      return resources.flatMap((file) => readAll(join(folder, file)) as readonly Manifest[]).map(nameOf);
    });
    expect(taken.length).toBe(new Set(taken).size);
    const left = everything.filter((object) => !taken.includes(nameOf(object)));
    expect(left).toEqual(buildFolder(`${DEPLOY}base`));
  });

  test('pod-monitors scrape every pod once, on a port that it has', () => {
    const scraped = readAll('components/pod-monitors/pod-monitors.yaml').flatMap((monitor) => {
      const [endpoint] = at(monitor, 'spec.podMetricsEndpoints') as readonly { readonly port: string }[];
      const pods = selected(at(monitor, 'metadata.namespace'), at(monitor, 'spec.selector'));
      return pods.map(({ name, ports }) => [name, ports.includes(endpoint?.port)]);
    });
    expect(scraped.toSorted()).toEqual(PODS.map(({ name }) => [name, true]).toSorted());
  });

  test('pod-monitors need no honorLabels: no target has a label that the metrics of its pods have, too', () => {
    const endpoints = readAll('components/pod-monitors/pod-monitors.yaml').map((monitor) => ({
      name: at(monitor, 'metadata.name'),
      endpoint: (at(monitor, 'spec.podMetricsEndpoints') as readonly object[])[0] ?? {},
    }));
    expect(endpoints.filter(({ endpoint }) => 'honorLabels' in endpoint)).toEqual([]);
    const dropped = endpoints.map(({ name, endpoint }) => [name, droppedLabels(endpoint)]);
    expect(Object.fromEntries(dropped)).toEqual({ 'plimsoll-agent': ['namespace|pod'], plimsoll: [] });
  });

  test('network-policies limit whom every pod may call, and let each reach the API server and names', () => {
    const policies = readAll('components/network-policies/egress.yaml');
    const limited = policies.flatMap((policy) =>
      selected(at(policy, 'metadata.namespace'), at(policy, 'spec.podSelector')),
    );
    expect(limited.map(({ name }) => name).toSorted()).toEqual(PODS.map(({ name }) => name).toSorted());
    for (const policy of policies) {
      const rules = at(policy, 'spec.egress') as readonly { readonly ports: readonly { readonly port: number }[] }[];
      expect(at(policy, 'spec.policyTypes')).toEqual(['Egress']);
      expect(rules.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual([443, 6443, 10250, 53, 53]);
    }
  });

  test('dashboards deliver every file', () => {
    const [kustomization] = readAll('dashboards/kustomization.yaml');
    const generators = at(kustomization, 'configMapGenerator') as readonly { readonly files: readonly string[] }[];
    const files = readdirSync(`${DEPLOY}dashboards`).filter((name) => name.endsWith('.json'));
    expect(generators.flatMap((generator) => generator.files).toSorted()).toEqual(files.toSorted());
    expect(at(kustomization, 'generatorOptions.labels')).toMatchObject({ grafana_dashboard: '1' });
  });

  test('alerts are the rule file as an object', () => {
    const [rule] = readAll('components/alerts/prometheus-rule.yaml');
    expect(at(rule, 'spec')).toEqual(parse(readFileSync(`${DEPLOY}alerts/plimsoll.yaml`, 'utf8')));
  });
});
