import { describe, expect, inject, test } from 'vitest';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { getObject } from '#shared/kube/objects.ts';
import { NAMESPACES } from '#shared/kube/resource.ts';
import { testClient } from './test-client.ts';

const kubeconfig = inject('kubeconfig');

/** An upgrade of the client library must not change what it makes of a kubeconfig. */
describe.skipIf(kubeconfig === '')('@kubernetes/client-node', () => {
  test('reads what our own client reads', async () => {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    const typed = await config.makeApiClient(CoreV1Api).readNamespace({ name: 'kube-system' });
    const client = await testClient(kubeconfig);
    const raw = await getObject(client, { resource: NAMESPACES, name: 'kube-system' });
    client.close();
    expect(raw).toMatchObject({ kind: 'ok', object: { metadata: { uid: typed.metadata?.uid } } });
  });
});
