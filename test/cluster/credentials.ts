import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CertificatePair,
  createAuthority,
  issueClientCertificate,
  issueServerCertificate,
} from '#shared/http/certificates.ts';
import { NODE_ADDRESS, NODE_NAME, SERVICE_PLACE } from '#test/cluster/node/node-place.ts';

/** Who talks to the API server, by bearer token. */
const USERS = {
  admin: { name: 'plimsoll-test-admin', groups: 'system:masters' },
  'kube-controller-manager': { name: 'system:kube-controller-manager', groups: '' },
  'kube-scheduler': { name: 'system:kube-scheduler', groups: '' },
  kubelet: { name: `system:node:${NODE_NAME}`, groups: 'system:nodes' },
} as const;

type User = keyof typeof USERS;

/** A certificate and its key, PEM. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** As whom the API server asks a kubelet. */
export const KUBELET_CLIENT = 'kube-apiserver-kubelet-client';
const API_SERVER_NAMES = ['kubernetes', 'kubernetes.default.svc', 'localhost'];
const DAYS = 7;

/** The files of a cluster's trust, in one folder that only its owner can read. */
export interface Credentials {
  readonly caFile: string;
  readonly apiServer: CertificateFiles;
  readonly kubelet: CertificateFiles;
  readonly kubeletClient: CertificateFiles;
  /** Signs and proves service account tokens. */
  readonly serviceAccountKeyFile: string;
  readonly tokenFile: string;
  kubeconfig(user: User): string;
}

/** Makes authority, serving certificate, keys and tokens, and a kubeconfig for each user. */
export function writeCredentials(folder: string, server: string): Credentials {
  const now = Date.now();
  const authority = createAuthority({ commonName: 'plimsoll-test', days: DAYS, now });
  const serving = (dnsNames: readonly string[], ipAddresses: readonly string[]): CertificatePair =>
    issueServerCertificate(authority, { dnsNames, ipAddresses, days: DAYS, now });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const write = (name: string, text: string | Buffer): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const writePair = (name: string, { certPem, keyPem }: CertificatePair): CertificateFiles => ({
    certFile: write(`${name}.crt`, certPem),
    keyFile: write(`${name}.key`, keyPem),
  });
  const users = Object.entries(USERS).map(([user, { name, groups }]) => {
    const token = randomBytes(16).toString('hex');
    write(`${user}.kubeconfig`, kubeconfig(server, authority.certPem, token));
    return `${token},${name},${name}${groups === '' ? '' : `,${groups}`}\n`;
  });
  return {
    caFile: write('ca.crt', authority.certPem),
    apiServer: writePair('apiserver', serving(API_SERVER_NAMES, ['127.0.0.1', SERVICE_PLACE.host])),
    kubelet: writePair('kubelet', serving([NODE_NAME], [NODE_ADDRESS])),
    kubeletClient: writePair(
      'kubelet-client',
      issueClientCertificate(authority, { commonName: KUBELET_CLIENT, days: DAYS, now }),
    ),
    serviceAccountKeyFile: write('service-account.key', privateKey.export({ type: 'pkcs1', format: 'pem' })),
    tokenFile: write('tokens.csv', users.join('')),
    kubeconfig: (user) => join(folder, `${user}.kubeconfig`),
  };
}

/** JSON is YAML. */
function kubeconfig(server: string, caPem: string, token: string): string {
  const ca = Buffer.from(caPem).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': ca } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  });
}
