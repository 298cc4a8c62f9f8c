import { Buffer } from 'node:buffer';
import { stringify } from 'yaml';

const NAME = 'plimsoll-sandbox';

/** A kubeconfig with one cluster, one user and one context. */
export function kubeconfigText({
  server,
  caPem,
  token,
}: {
  readonly server: string;
  readonly caPem: string;
  readonly token: string;
}): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: NAME, cluster: { server, 'certificate-authority-data': Buffer.from(caPem).toString('base64') } },
    ],
    users: [{ name: NAME, user: { token } }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME } }],
    'current-context': NAME,
  });
}
