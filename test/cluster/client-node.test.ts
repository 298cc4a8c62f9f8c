import { dirname, join } from 'node:path';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AuthenticationV1Api, KubeConfig, V1SelfSubjectReview } from '@kubernetes/client-node';
import { createClient } from '#shared/kube/client/client.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { NAMESPACES } from '#shared/kube/resource.ts';
import { credentialsIn, KUBELET_CLIENT } from './support/control-plane/credentials.ts';
import { ownCluster, whyNoOwnCluster } from './support/control-plane/own-cluster.ts';

const whyNot = whyNoOwnCluster(process.env);

/** The sandbox knows its users by token alone, so that this is for a real API server. */
describe.skipIf(whyNot !== undefined)(`a kubeconfig with a client certificate${whyNot ?? ''}`, () => {
  const own = ownCluster();
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-certificate-'));
  const kubeconfig = join(folder, 'kubeconfig');

  beforeAll(() => writeFileSync(kubeconfig, withCertificate(own().cluster.kubeconfig), { mode: 0o600 }));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('names the user for @kubernetes/client-node', async () => {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    const review = await config
      .makeApiClient(AuthenticationV1Api)
      .createSelfSubjectReview({ body: new V1SelfSubjectReview() });
    expect(review.status?.userInfo?.username).toBe(KUBELET_CLIENT);
  });

  test('names the same user for Plimsoll', async () => {
    const client = createClient(await kubeconfigConnection(kubeconfig), { userAgent: 'plimsoll-test' });
    const refused = await getObject(client, { resource: NAMESPACES, name: 'default' });
    client.close();
    expect(refused).toMatchObject({ kind: 'forbidden', message: expect.stringContaining(KUBELET_CLIENT) as string });
  });
});

/** The kubeconfig of an administrator, with a certificate in place of its token. */
function withCertificate(kubeconfig: string): string {
  const { kubeletClient } = credentialsIn(dirname(kubeconfig));
  const config = JSON.parse(readFileSync(kubeconfig, 'utf8')) as object;
  const user = { 'client-certificate': kubeletClient.certFile, 'client-key': kubeletClient.keyFile };
  return JSON.stringify({ ...config, users: [{ name: 'test', user }] });
}
