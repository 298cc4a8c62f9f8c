import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createObject } from '#shared/kube/client/objects.ts';
import { QUEUES } from '#shared/kube/resource.ts';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { makeSnapshot, snapshotJson } from '#cli/snapshot/make-snapshot.ts';
import { createPseudonyms } from '#cli/snapshot/pseudonyms.ts';
import { EXAMPLE_QUEUES, QUEUE_CLUSTER, queuedPod } from './example-queues.ts';
import { TAKEN_AT } from './node-pressures.ts';
import { folderWith, runPlimsoll } from './run-plimsoll.ts';
import { sandboxCluster } from './sandbox-cluster.ts';
import { manifestsOf } from './vector-cluster.ts';

const pseudonym = createPseudonyms(Buffer.from('a key of these tests'));
const [apiVersion, kind] = ['plimsoll.dev/v1alpha1', 'Queue'];
/** Made from the template of another one, and named by the label of its namespace. */
const FROM_TEMPLATE = [
  { apiVersion, kind, metadata: { name: 'teams' }, spec: { childTemplate: { weight: 1 }, max: { cpu: '1' } } },
  { apiVersion, kind, metadata: { name: 'teams.design' }, spec: { parent: 'teams', weight: 1 } },
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'design', labels: { 'plimsoll.dev/queues': 'managed', 'plimsoll.dev/queue': 'teams' } },
  },
  ...['first', 'second'].map((name) => queuedPod('design', { name, cpu: 1, minute: 2 })),
  withLabels(queuedPod('design', { name: 'member', cpu: 1, minute: 2, node: 'node-1', annotations: inGang('orbit') }), {
    'plimsoll.dev/gang': 'orbit',
    'plimsoll.dev/gang-size': '1',
  }),
];

function inGang(name: string): Readonly<Record<string, string>> {
  const mark = { queue: 'teams.design', application: 'design/spark', at: TAKEN_AT, gang: { name, min: 1 } };
  return { 'plimsoll.dev/admitted': JSON.stringify(mark) };
}

/** Of the same application as the pods of another queue, by its label, so that none of them goes for it. */
const ADMITTED = JSON.stringify({ queue: 'batch', application: 'research/spark', at: TAKEN_AT, mayBePreempted: true });
const ONE_APPLICATION = [
  ...QUEUE_CLUSTER.slice(0, 6),
  ...[0, 1, 2, 3].map((index) => {
    const annotations = { 'plimsoll.dev/admitted': ADMITTED };
    return queuedPod('batch', {
      name: `spark-${index}`,
      cpu: 2,
      minute: 1,
      node: `node-${1 + (index % 2)}`,
      annotations,
    });
  }),
  withLabels(queuedPod('research', { name: 'spark', cpu: 2, minute: 7 }), { 'plimsoll.dev/application': 'spark' }),
];

function withLabels(pod: object, labels: Readonly<Record<string, string>>): object {
  const { metadata } = pod as { metadata: object };
  return { ...pod, metadata: { ...metadata, labels } };
}

interface Simulation {
  readonly queues: readonly { readonly name: string; readonly deserved: object; readonly used: object }[];
  readonly letIn: readonly Row[];
  readonly waiting: readonly Row[];
}

interface Row {
  readonly pod: string;
  readonly because: { readonly code: string };
  readonly node?: string;
  readonly victims: readonly string[];
}

async function simulate(text: string): Promise<Simulation> {
  const file = join(folderWith({ 'cluster.json': text }), 'cluster.json');
  return JSON.parse((await runPlimsoll(['simulate', 'queue', '-f', file, '-o', 'json'])).stdout) as Simulation;
}

/** What stays the same under other names. */
function nameless({ queues, letIn, waiting }: Simulation): object {
  const rows = (all: readonly Row[]) =>
    all.map(({ because, node, victims }) => [because.code, node, victims.length]).sort();
  return {
    queues: queues.map(({ deserved, used }) => JSON.stringify([deserved, used])).sort(),
    letIn: rows(letIn),
    waiting: rows(waiting),
  };
}

describe('a snapshot of a cluster with queues', () => {
  const clusters: readonly [string, readonly object[]][] = [
    ['with pods that make room', EXAMPLE_QUEUES],
    ['with queues from a template', [...QUEUE_CLUSTER, ...FROM_TEMPLATE]],
    ['with an application in two queues', ONE_APPLICATION],
  ];

  test.each(clusters)('%s answers as the cluster does', async (_, objects) => {
    const whole = makeSnapshot({ manifests: manifestsOf(objects), takenAt: TAKEN_AT });
    const list = { apiVersion: 'v1', kind: 'List', metadata: whole.metadata, items: objects };
    const expected = await simulate(JSON.stringify(list));
    expect([...expected.letIn, ...expected.waiting]).not.toEqual([]);
    expect(await simulate(snapshotJson(whole))).toEqual(expected);
    const redacted = makeSnapshot({ manifests: manifestsOf(objects), takenAt: TAKEN_AT }, pseudonym);
    expect(nameless(await simulate(snapshotJson(redacted)))).toEqual(nameless(expected));
  });

  test('redacted, no name of a queue, an application or a namespace is left', () => {
    const all = [...EXAMPLE_QUEUES, ...FROM_TEMPLATE, ...ONE_APPLICATION.slice(6)];
    const text = snapshotJson(makeSnapshot({ manifests: manifestsOf(all), takenAt: TAKEN_AT }, pseudonym));
    expect(text.replaceAll(/uid-[\w-]+/g, 'uid')).not.toMatch(/research|batch|teams|design|spark|notebook|orbit/);
    expect(text).toContain('"parent":"queue-');
  });

  const cluster = sandboxCluster(async (client) => {
    await installPlimsoll(client);
    const spec = { weight: 3, childTemplate: { weight: 2 } };
    await createObject(client, { resource: QUEUES }, { apiVersion, kind, metadata: { name: 'teams' }, spec });
  });

  test('holds the queues of the cluster', async () => {
    const file = join(folderWith({}), 'cluster.json');
    expect((await runPlimsoll(['snapshot', '--kubeconfig', cluster.kubeconfig, '-o', file])).code).toBe(0);
    const { items } = JSON.parse(readFileSync(file, 'utf8')) as { items: readonly { kind: string }[] };
    expect(items.filter((each) => each.kind === kind)).toMatchObject([
      { metadata: { name: 'teams' }, spec: { weight: 3, childTemplate: { weight: 2 } } },
    ]);
  });
});
