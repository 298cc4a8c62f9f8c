import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { readBytes } from '#shared/runtime/read-bytes.ts';
import type { StatusWriter } from './status-writer.ts';

const LARGEST_REVIEW_BYTES = 1024 * 1024;
const TIMEOUT_SECONDS = 5;

/** The minimum cost of a gate: `floor` answers at once, `floor-and-write` first writes the status of one object. */
export async function startFloorServer(client: KubeClient, writeStatus: StatusWriter): Promise<Server> {
  const authority = createAuthority({ commonName: 'bench', days: 1, now: Date.now() });
  const request = { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'], days: 1, now: Date.now() };
  const { certPem: cert, keyPem: key } = issueServerCertificate(authority, request);
  const server = createServer({ cert, key, noDelay: true }, (review, answer) => {
    void (async () => {
      const asked: unknown = JSON.parse((await readBytes(review, LARGEST_REVIEW_BYTES)).toString());
      if (review.url?.startsWith('/write') === true) await writeStatus();
      const response = { uid: fieldOf(fieldOf(asked, 'request'), 'uid'), allowed: true };
      answer.setHeader('Content-Type', 'application/json');
      answer.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }));
    })();
  });
  server.keepAliveTimeout = 95_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await register(client, (server.address() as AddressInfo).port, authority.certPem);
  return server;
}

async function register(client: KubeClient, port: number, caPem: string): Promise<void> {
  const entry = (name: string, path: string) => ({
    name: `${name}.bench.plimsoll.dev`,
    failurePolicy: 'Fail',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: TIMEOUT_SECONDS,
    rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods/eviction'], operations: ['CREATE'] }],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
    clientConfig: {
      url: `https://127.0.0.1:${port}${path}`,
      caBundle: Buffer.from(caPem).toString('base64'),
    },
  });
  const body = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'bench' },
    webhooks: [entry('floor', '/answer'), entry('floor-and-write', '/write')],
  };
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  const made = await client.request({ method: 'POST', path, body });
  if (made.kind !== 'ok') throw new Error(made.message);
}
