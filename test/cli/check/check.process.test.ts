import { describe, expect, test } from 'vitest';
import { checkCluster } from '#cli/check/check-cluster.ts';
import { createAuthority } from '#shared/http/certificates.ts';
import { EXAMPLE_CLUSTER, examplePod } from '#test/cli/example-cluster.ts';
import { NODE_PRESSURES, TAKEN_AT, takenList } from '#test/cli/node-pressures.ts';
import { folderWith, runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { manifestsOf } from '#test/cli/vector-cluster.ts';

const NOW = Date.parse(TAKEN_AT);
const KINDS = [
  'disruptionaccounts',
  'disruptionlimits',
  'disruptionpolicies',
  'disruptions',
  'nodepressurepolicies',
  'nodepressures',
  'prioritypolicies',
  'priorityquotas',
  'priorityrules',
  'queues',
  'queueselectors',
  'reschedulingpolicies',
];
const DEFINITIONS = KINDS.map((kind) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind}.plimsoll.dev` },
}));

function webhook(kind: string, days: number): object {
  const caBundle = Buffer.from(createAuthority({ commonName: 'test', days, now: NOW }).certPem).toString('base64');
  const webhooks = [{ name: 'priority.plimsoll.dev', clientConfig: { caBundle } }];
  return { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name: 'plimsoll' }, webhooks };
}

const [MUTATING, VALIDATING] = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];
const WEBHOOKS = [webhook(MUTATING, 90), webhook(VALIDATING, 90)];
const SILENT = NODE_PRESSURES.filter((each) => JSON.stringify(each).includes('"name":"node-3"'));
const REPORTING = NODE_PRESSURES.filter((each) => !SILENT.includes(each));

/** What is found, without what is in order. */
function troubles(...objects: readonly object[]) {
  const findings = checkCluster({ manifests: manifestsOf(objects), now: NOW, namespace: 'default' }, '1.0.0');
  return findings.filter(({ level }) => level !== 'OK').map(({ level, subject, text }) => [level, subject, text]);
}

function agentReport(name: string, version: string | undefined, observedAt: string): object {
  const status = { observedAt, agent: version && { version, pod: '' } };
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name }, status };
}

function schedulerConfiguration(plugins: object): object {
  const configuration = { kind: 'KubeSchedulerConfiguration', profiles: [{ schedulerName: 'batch', plugins }] };
  const metadata = { name: 'scheduler', namespace: 'kube-system' };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'config.yaml': JSON.stringify(configuration) } };
}

describe('checkCluster', () => {
  test('an installation that works', () => {
    const nodes = EXAMPLE_CLUSTER.slice(0, 2);
    expect(troubles(...DEFINITIONS, ...WEBHOOKS, ...nodes, ...REPORTING)).toEqual([]);
  });

  test('kinds that could not be read are not mistaken for missing ones', () => {
    const read = { manifests: manifestsOf(EXAMPLE_CLUSTER), now: NOW, namespace: 'default' };
    const unread = ['CustomResourceDefinition', 'MutatingWebhookConfiguration', 'NodePressure'];
    expect(checkCluster(read, '1.0.0', new Set(unread))).toEqual([]);
  });

  test('definitions and webhooks that are missing', () => {
    expect(troubles(...DEFINITIONS.slice(1), ...WEBHOOKS.slice(1))).toEqual([
      ['Error', 'disruptionaccounts.plimsoll.dev', 'the CustomResourceDefinition is missing'],
      ['Error', MUTATING, 'the webhook is not registered: classes and quotas are not enforced by it'],
    ]);
  });

  test.each([
    [
      'soon',
      webhook(MUTATING, 5),
      ['Warning', MUTATING, 'the certificate authority of entry priority.plimsoll.dev expires in 5 days'],
    ],
    [
      'since long',
      webhook(MUTATING, -5),
      ['Error', MUTATING, 'the certificate authority of entry priority.plimsoll.dev expired 5 days ago'],
    ],
    [
      'unreadable',
      { ...webhook(MUTATING, 5), webhooks: [{ name: 'x', clientConfig: { caBundle: 'bm90aGluZw==' } }] },
      ['Error', MUTATING, 'entry x has no readable certificate authority'],
    ],
  ])('a certificate authority, %s', (_, mutating, expected) => {
    expect(troubles(...DEFINITIONS, ...WEBHOOKS.slice(1), mutating)).toEqual([expected]);
  });

  test.each<[string, readonly (string | undefined)[], readonly string[]]>([
    ['one for all', ['1.0.0', '1.0.0', undefined], []],
    [
      'another than that of the command',
      ['1.1.0', '1.1.0'],
      ['the agents have version 1.1.0, this plimsoll has 1.0.0'],
    ],
    ['several', ['1.0.0', '1.1.0', '1.1.0'], ['agents have different versions: 1.1.0 (2 nodes), 1.0.0 (1 node)']],
    ['none is known', [undefined], []],
  ])('versions of agents: %s', (_, versions, expected) => {
    const pressures = versions.map((version, index) => agentReport(`n${index}`, version, TAKEN_AT));
    const silent = agentReport('silent', '0.1.0', '2026-01-01T11:00:00Z');
    const found = troubles(...DEFINITIONS, ...WEBHOOKS, ...pressures, silent);
    expect(found).toEqual(expected.map((text) => ['Warning', 'versions', text]));
  });

  test('agents that are missing or silent', () => {
    const nodes = EXAMPLE_CLUSTER.slice(0, 3);
    expect(troubles(...DEFINITIONS, ...WEBHOOKS, ...nodes, ...SILENT)).toEqual([
      ['Error', 'agents', 'no agent has reported from node-1, node-2'],
      ['Error', 'agents', 'the agent has not reported for minutes from node-3'],
    ]);
  });

  test.each<[string, object, boolean]>([
    ['its plugin', { postFilter: { disabled: [{ name: 'DefaultPreemption' }] } }, true],
    ['every plugin of its point', { postFilter: { disabled: [{ name: '*' }] } }, true],
    [
      'every plugin, and it is enabled again',
      { multiPoint: { disabled: [{ name: '*' }], enabled: [{ name: 'DefaultPreemption' }] } },
      false,
    ],
    ['another plugin', { score: { disabled: [{ name: 'ImageLocality' }] } }, false],
  ])('a scheduler profile that disables %s (S1-22)', (_, plugins, isFound) => {
    const found = troubles(...DEFINITIONS, ...WEBHOOKS, schedulerConfiguration(plugins));
    const expected = [
      'Warning',
      'scheduler',
      'preemption is disabled for profile batch in ConfigMap kube-system/scheduler',
    ];
    expect(found).toEqual(isFound ? [expected] : []);
  });

  test.each([
    ['without stalls', 'NotMeasured', true],
    ['with stalls', 'NoPressure', false],
  ])('a node %s', (_, reason, isFound) => {
    const conditions = [{ type: 'Io', status: 'Unknown', reason, message: '' }];
    const status = { observedAt: TAKEN_AT, conditions };
    const pressure = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name: 'n1' }, status };
    const expected = ['Warning', 'nodes', 'no pressure stall information (PSI) from n1'];
    expect(troubles(...DEFINITIONS, ...WEBHOOKS, pressure)).toEqual(isFound ? [expected] : []);
  });

  test('DaemonSets of kube-system below the highest priority, once each (S3-48)', () => {
    const owned = (name: string, namespace: string, priority: number, kind: string): object =>
      examplePod({
        name,
        namespace,
        className: '',
        priority,
        cpu: '1',
        metadata: { ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'logs', uid: 'u', controller: true }] },
      });
    const found = troubles(
      ...DEFINITIONS,
      ...WEBHOOKS,
      owned('logs-1', 'kube-system', 2_000_000_000, 'DaemonSet'),
      owned('logs-2', 'kube-system', 2_000_000_000, 'DaemonSet'),
      owned('proxy-1', 'kube-system', 2_000_001_000, 'DaemonSet'),
      owned('dns-1', 'kube-system', 2_000_000_000, 'ReplicaSet'),
      owned('own-1', 'shop', 0, 'DaemonSet'),
    );
    const text = 'kube-system/DaemonSet/logs runs on every node with less than the highest priority';
    expect(found).toEqual([['Warning', 'classes', text]]);
  });

  const podRule = { apiGroups: [''], resources: ['pods'] };
  const allButOurs = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['plimsoll-system'] };
  test.each<[string, string, object, string | undefined]>([
    [
      'that is asked about evictions',
      VALIDATING,
      { failurePolicy: 'Ignore', rules: [{ apiGroups: [''], resources: ['pods/eviction'] }] },
      'reviews evictions and may refuse those of the agents',
    ],
    [
      'that fails closed for our pods',
      VALIDATING,
      { rules: [podRule] },
      'fails closed for pods of Plimsoll: while it is down they do not start',
    ],
    [
      'that leaves our namespace out',
      VALIDATING,
      { rules: [podRule], namespaceSelector: { matchExpressions: [allButOurs] } },
      undefined,
    ],
    [
      'for namespaces with a label',
      MUTATING,
      { rules: [podRule], namespaceSelector: { matchLabels: { mesh: 'on' } } },
      undefined,
    ],
    [
      'that is called again after ours',
      MUTATING,
      { rules: [podRule], failurePolicy: 'Ignore', reinvocationPolicy: 'IfNeeded' },
      'may change pods after Plimsoll has set their priority',
    ],
    ['for something else', VALIDATING, { rules: [{ apiGroups: ['apps'], resources: ['*'] }] }, undefined],
  ])('a webhook of others %s', (_, kind, entry, expected) => {
    const webhooks = [{ name: 'x.example.com', ...entry }];
    const other = { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name: 'other' }, webhooks };
    const found = troubles(...DEFINITIONS, ...WEBHOOKS, other);
    expect(found).toEqual(expected === undefined ? [] : [['Warning', 'webhooks', `other (x.example.com) ${expected}`]]);
  });
});

describe('plimsoll check', () => {
  const classes = ['low', 'middle', 'upper', 'top'].map((name, index) => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value: index * 10,
  }));
  const pods = ['a', 'b', 'c', 'd'].map((name, index) =>
    examplePod({
      name,
      namespace: 'team',
      cpu: '1',
      ...(index === 3 ? { className: 'top', priority: 30 } : { className: 'low', priority: 0 }),
    }),
  );

  test('warnings name the next step, and are no error (S1-22, S1-23)', async () => {
    const configuration = schedulerConfiguration({ postFilter: { disabled: [{ name: '*' }] } });
    const input = takenList([...DEFINITIONS, ...WEBHOOKS, configuration, ...classes, ...pods]);
    const { code, stdout } = await runPlimsoll(['check', '-f', '-'], input);
    expect({ code, lines: stdout.split('\n') }).toEqual({
      code: 0,
      lines: [
        'LEVEL     SUBJECT                          FINDING',
        'OK        definitions                      all 12 CustomResourceDefinitions are there',
        'OK        MutatingWebhookConfiguration     1 entry is registered',
        'OK        ValidatingWebhookConfiguration   1 entry is registered',
        'OK        admission                        mode Webhook: the webhook reviews every new pod; the API server sets no defaults itself, because defaults.plimsoll.dev is not installed',
        'Warning   scheduler                        preemption is disabled for profile batch in ConfigMap kube-system/scheduler; ' +
          'enable the plugin DefaultPreemption again: critical pods depend on it when nodes are full',
        'Warning   classes                          team/d has priority class top, most of its namespace has low; ' +
          'see whether it needs that class; plimsoll explain pod shows what follows from it',
        '',
      ],
    });
  });

  test('with --wait it checks until the time is over', async () => {
    const folder = folderWith({ 'cluster.json': takenList(DEFINITIONS) });
    const started = performance.now();
    const { code } = await runPlimsoll(['check', '-f', 'cluster.json', '--wait', '2s'], '', folder);
    expect({ code, waited: performance.now() - started >= 2_000 }).toEqual({ code: 1, waited: true });
  });

  test('an error gives exit code 1', async () => {
    expect((await runPlimsoll(['check', '-f', '-', '-o', 'json'], takenList(DEFINITIONS))).code).toBe(1);
  });
});
