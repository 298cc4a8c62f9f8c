import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ApiException,
  AppsV1Api,
  AuthenticationV1Api,
  CoreV1Api,
  KubeConfig,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  V1Eviction,
  V1SelfSubjectReview,
  Watch,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '#shared/kube/client/client.ts';
import type { ClusterConnection } from '#shared/kube/client/connection.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { NAMESPACES } from '#shared/kube/resource.ts';
import { buildKubeconfig } from '#test/build/kubeconfig.ts';
import { configMap, type ContractTarget, contractHarness, pod } from './harness.ts';
import { eventually } from '#test/build/waiting.ts';

const PATIENCE = 20_000;

/** What a client written by others does all day, and the ways of it to prove who it is. */
export function clientLibraryContract(target: () => ContractTarget): void {
  const api = contractHarness(target);
  const { namespace } = api;
  let config: KubeConfig;

  beforeAll(async () => {
    config = new KubeConfig();
    config.loadFromString(buildKubeconfig(target().connection, { token: await tokenOf(target().connection) }));
  });

  test('creates, reads, lists and deletes', async () => {
    const core = config.makeApiClient(CoreV1Api);
    const body = configMap('made', { made: 'yes' }) as V1ConfigMap;
    const made = await core.createNamespacedConfigMap({ namespace, body });
    const { items } = await core.listNamespacedConfigMap({ namespace, labelSelector: 'made=yes' });
    expect(items.map(({ metadata }) => metadata?.uid)).toEqual([made.metadata?.uid]);
    expect(made.metadata?.creationTimestamp).toBeInstanceOf(Date);
    await core.deleteNamespacedConfigMap({ namespace, name: 'made' });
    const gone = await core.readNamespacedConfigMap({ namespace, name: 'made' }).catch((error: unknown) => error);
    expect(gone).toBeInstanceOf(ApiException);
    expect(gone).toMatchObject({
      code: 404,
      body: expect.stringContaining('configmaps \\"made\\" not found') as string,
    });
  });

  test.each([
    ['JSON', PatchStrategy.JsonPatch, [{ op: 'replace', path: '/data/value', value: '2' }]],
    ['merge', PatchStrategy.MergePatch, { data: { value: '2' } }],
    ['strategic merge', PatchStrategy.StrategicMergePatch, { data: { value: '2' } }],
  ])('patches by %s', async (_, strategy, body) => {
    const core = config.makeApiClient(CoreV1Api);
    await api.remove(api.core('configmaps/patched'));
    await api.post(api.core('configmaps'), configMap('patched'));
    const options = setHeaderOptions('Content-Type', strategy);
    const { data } = await core.patchNamespacedConfigMap({ namespace, name: 'patched', body }, options);
    expect(data).toEqual({ value: '2' });
  });

  test('applies what it owns, and learns who owns the rest', async () => {
    const apps = config.makeApiClient(AppsV1Api);
    const options = setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply);
    const apply = (fieldManager: string, replicas: number) =>
      apps.patchNamespacedDeployment(
        { namespace, name: 'applied', body: deployment('applied', replicas), fieldManager },
        options,
      );
    expect((await apply('one', 0)).spec?.replicas).toBe(0);
    await expect(apply('two', 1)).rejects.toMatchObject({
      code: 409,
      body: expect.stringContaining('conflict with \\"one\\": .spec.replicas') as string,
    });
  });

  test('watches from a revision on', async () => {
    const core = config.makeApiClient(CoreV1Api);
    const { metadata } = await core.listNamespacedConfigMap({ namespace });
    const seen: string[] = [];
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const query = { resourceVersion: metadata?.resourceVersion, labelSelector: 'watched=yes' };
    const onEvent = (type: string, { metadata }: V1ConfigMap): void => void seen.push(`${type} ${metadata?.name}`);
    const watch = await new Watch(config).watch(path, query, onEvent, () => undefined);
    await core.createNamespacedConfigMap({ namespace, body: configMap('w', { watched: 'yes' }) });
    await core.deleteNamespacedConfigMap({ namespace, name: 'w' });
    await eventually(() => expect(seen).toEqual(['ADDED w', 'DELETED w']), PATIENCE);
    watch.abort();
  });

  test('an informer holds what is there', async () => {
    const core = config.makeApiClient(CoreV1Api);
    const labelSelector = 'informed=yes';
    const list = () => core.listNamespacedConfigMap({ namespace, labelSelector });
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const informer = makeInformer<V1ConfigMap>(config, path, list, labelSelector);
    const held = () => informer.list(namespace).map(({ metadata }) => metadata?.name);
    await api.post(api.core('configmaps'), configMap('first', { informed: 'yes' }));
    await informer.start();
    await api.post(api.core('configmaps'), configMap('second', { informed: 'yes' }));
    await eventually(() => expect(held().toSorted()).toEqual(['first', 'second']), PATIENCE);
    await api.remove(api.core('configmaps/first'));
    await eventually(() => expect(held()).toEqual(['second']), PATIENCE);
    await informer.stop();
  });

  test('evicts', async () => {
    await api.post(api.core('pods'), pod('evicted'));
    const core = config.makeApiClient(CoreV1Api);
    const body = Object.assign(new V1Eviction(), { metadata: { name: 'evicted', namespace } });
    await core.createNamespacedPodEviction({ namespace, name: 'evicted', body });
    await eventually(async () => expect((await api.get(api.core('pods/evicted'))).status).toBe(404));
  });

  describe('with a token that a program gives', () => {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-exec-'));
    const kubeconfig = join(folder, 'kubeconfig');

    beforeAll(async () => {
      const { connection } = target();
      const exec = printer(await tokenOf(connection));
      writeFileSync(kubeconfig, buildKubeconfig(connection, { exec }), { mode: 0o600 });
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    test('is who the token says, and so is Plimsoll', async () => {
      config.loadFromFile(kubeconfig);
      const review = await config
        .makeApiClient(AuthenticationV1Api)
        .createSelfSubjectReview({ body: new V1SelfSubjectReview() });
      expect(review.status?.userInfo?.groups).toContain('system:masters');
      const ours = createClient(await kubeconfigConnection(kubeconfig), { userAgent: 'plimsoll-contract' });
      const found = await getObject(ours, { resource: NAMESPACES, name: namespace });
      expect(found.kind).toBe('ok');
      ours.close();
    });
  });
}

function deployment(name: string, replicas: number): object {
  const template = { metadata: { labels: { name } }, spec: { containers: [{ name: 'main', image: 'idle' }] } };
  const spec = { replicas, selector: { matchLabels: { name } }, template };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec };
}

async function tokenOf({ token }: ClusterConnection): Promise<string> {
  return (await token?.()) ?? '';
}

/** A program that prints a token, as an exec plugin. */
function printer(token: string): object {
  const apiVersion = 'client.authentication.k8s.io/v1';
  const credential = JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token } });
  const args = ['-e', 'process.stdout.write(process.env.CREDENTIAL)'];
  const env = [{ name: 'CREDENTIAL', value: credential }];
  return { apiVersion, command: process.execPath, args, env, interactiveMode: 'Never' };
}
