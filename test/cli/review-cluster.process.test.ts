import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApiServer, type ApiServer } from '#sandbox/api-server/start-api-server.ts';
import { createClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { createObject } from '#shared/kube/client/objects.ts';
import { NAMESPACES, PODS, PRIORITY_CLASSES } from '#shared/kube/resource.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { podManifest } from './manifests.ts';
import { folderWith, runPlimsoll, verdicts } from './run-plimsoll.ts';

const BOB = { username: 'bob', groups: ['developers', 'system:authenticated'] };
const NOWHERE = 'https://127.0.0.1:1';
const POD = JSON.stringify(podManifest('web', '', 'gold'));

function policy(spec: object): string {
  const header = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'PriorityPolicy', metadata: { name: 'p' } };
  return `${POD}\n---\n${JSON.stringify({ ...header, spec })}`;
}

describe('plimsoll review against a cluster', () => {
  const kubeconfig = join(folderWith({}), 'config');
  let api: ApiServer;

  beforeAll(async () => {
    const log = createLog({ component: 'test', level: 'fatal', format: 'json' });
    const users = new Map([['bobs-token', BOB]]);
    api = await startApiServer({ host: '127.0.0.1', port: 0, clock: systemClock, log, users });
    const client = createClient(directConnection({ server: api.url, token: api.token, ca: api.caPem }), {
      userAgent: 'test',
    });
    await createObject(client, { resource: PRIORITY_CLASSES }, { metadata: { name: 'gold' }, value: 10 });
    await createObject(client, { resource: NAMESPACES }, { metadata: { name: 'team-a' } });
    const cache = {
      metadata: { name: 'cache', labels: { app: 'cache' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    await createObject(client, { resource: PODS, namespace: 'team-a' }, cache);
    client.close();
    writeFileSync(kubeconfig, kubeconfigFor(api));
  });
  afterAll(() => api.close());

  test('its classes are known, and its context says the namespace', async () => {
    expect(await verdicts(['-f', '-', '--kubeconfig', kubeconfig], POD)).toEqual({ 'Pod/team-a/web': true });
  });

  test('its pods are known, of the namespaces that objects go to', async () => {
    const required = [{ topologyKey: 'zone', labelSelector: { matchLabels: { app: 'cache' } } }];
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    const spec = { priorityClassName: 'gold', containers: [{ name: 'main' }], affinity };
    const beside = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'beside' }, spec });
    const { code, stderr } = await runPlimsoll(['review', '-f', '-', '--kubeconfig', kubeconfig], beside);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('lower priority: `cache` (0);') as string,
    });
  });

  test('policies in files are added, and see who we are there', async () => {
    const args = ['-f', '-', '--kubeconfig', kubeconfig];
    const forBob = policy({ subjects: [{ kind: 'User', name: 'bob' }], maxPriority: 5 });
    expect(await verdicts(args, forBob)).toEqual({ 'Pod/team-a/web': false });
    expect(await verdicts([...args, '--as', 'alice'], forBob)).toEqual({ 'Pod/team-a/web': true });
  });

  test.each([
    ['broken', /^error: cluster: cannot list \S+: .+\n$/],
    ['absent', /^error: no context "absent" in kubeconfig ".+": it has "works", "broken"\n$/],
  ])('context %s cannot be used', async (context, message) => {
    const run = await runPlimsoll(['review', '-f', '-', '--kubeconfig', kubeconfig, '--context', context], POD);
    expect({ ...run, stderr: message.test(run.stderr) || run.stderr }).toEqual({ code: 2, stdout: '', stderr: true });
  });
});

function kubeconfigFor({ url, caPem }: ApiServer): string {
  const ca = { 'certificate-authority-data': Buffer.from(caPem).toString('base64') };
  const context = (cluster: string) => ({ cluster, user: 'bob', namespace: 'team-a' });
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'works',
    contexts: [
      { name: 'works', context: context('here') },
      { name: 'broken', context: context('nowhere') },
    ],
    clusters: [
      { name: 'here', cluster: { server: url, ...ca } },
      { name: 'nowhere', cluster: { server: NOWHERE, ...ca } },
    ],
    users: [{ name: 'bob', user: { token: 'bobs-token' } }],
  });
}
