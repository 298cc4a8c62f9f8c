import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { at } from '#test/contract/harness.ts';

const COMPONENT = 'deploy/components/control-plane-extender/';

function readAll(file: string): readonly object[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as object);
}

function roleIn(file: string, name: string): unknown {
  return at(
    readAll(file).find((each) => at(each, 'kind') === 'ClusterRole' && at(each, 'metadata.name') === name),
    'rules',
  );
}

/** `--port=1` as `['port', '1']`. */
function flagsOf(container: object): Readonly<Record<string, string>> {
  const pairs = (at(container, 'args') as readonly string[]).map((arg) => arg.replace('--', '').split('=', 2));
  return Object.fromEntries(pairs) as Readonly<Record<string, string>>;
}

const [daemonSet = {}] = readAll(`${COMPONENT}daemonset.yaml`);
const spec = at(daemonSet, 'spec.template.spec');
const container = at(spec, 'containers.0') as object;
const flags = flagsOf(container);

describe('deploy/components/control-plane-extender', () => {
  test('listens where the configuration of kube-scheduler asks', () => {
    const configuration = parse(readFileSync('deploy/kube-scheduler/configuration.yaml', 'utf8')) as object;
    expect(at(configuration, 'extenders.0.urlPrefix')).toBe(`http://${flags['host']}:${flags['port']}`);
    expect(at(spec, 'hostNetwork')).toBe(true);
  });

  test('opens no port beyond the loopback address of the node', () => {
    expect([flags['host'], flags['health-host']]).toEqual(['127.0.0.1', '127.0.0.1']);
    const port = Number(flags['health-port']);
    expect(at(container, 'ports')).toEqual([
      { name: 'health', containerPort: port, hostPort: port, hostIP: '127.0.0.1' },
    ]);
    const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) =>
      at(container, `${probe}.httpGet.host`),
    );
    expect(probes).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
  });

  test('runs on the nodes of the control plane alone, whatever the value of their label', () => {
    const key = 'node-role.kubernetes.io/control-plane';
    const terms = at(spec, 'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms');
    expect(terms).toEqual([{ matchExpressions: [{ key, operator: 'Exists' }] }]);
    expect(at(spec, 'tolerations')).toEqual([{ key, operator: 'Exists' }]);
  });

  test('has the rights and settings of the extender of the second scheduler, and writes to no node', () => {
    const [second = {}] = readAll('deploy/components/scheduler-second/deployment.yaml');
    const other = at(second, 'spec.template.spec.containers.0') as object;
    expect(flags).toMatchObject(flagsOf(other));
    expect(at(container, 'command')).toEqual(at(other, 'command'));
    expect(at(container, 'resources')).toEqual(at(other, 'resources'));
    expect(at(container, 'securityContext')).toEqual(at(other, 'securityContext'));
    const rules = roleIn(`${COMPONENT}rbac.yaml`, 'plimsoll-control-plane-extender');
    expect(rules).toEqual(roleIn('deploy/components/scheduler-second/rbac.yaml', 'plimsoll-extender'));
  });

  test('is in the namespace whose pods may use the network of the host', () => {
    const namespaces = readAll('deploy/base/namespaces.yaml');
    const own = namespaces.find((each) => at(each, 'metadata.name') === at(daemonSet, 'metadata.namespace'));
    expect(Object.values(at(own, 'metadata.labels') as object)).toEqual(['privileged']);
  });
});
