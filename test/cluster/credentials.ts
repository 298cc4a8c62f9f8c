import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';

/** Who talks to the API server, by bearer token. */
const USERS = {
  admin: { name: 'plimsoll-test-admin', groups: 'system:masters' },
  'kube-controller-manager': { name: 'system:kube-controller-manager', groups: '' },
  'kube-scheduler': { name: 'system:kube-scheduler', groups: '' },
} as const;

export type User = keyof typeof USERS;

/** The files of a cluster's trust, in one folder that only its owner can read. */
export interface Credentials {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** Signs and proves service account tokens. */
  readonly serviceAccountKeyFile: string;
  readonly tokenFile: string;
  kubeconfig(user: User): string;
}

/** Makes authority, serving certificate, keys and tokens, and a kubeconfig for each user. */
export function writeCredentials(folder: string, server: string): Credentials {
  const now = Date.now();
  const authority = createAuthority({ commonName: 'plimsoll-test', days: 7, now });
  const names = ['kubernetes', 'kubernetes.default.svc', 'localhost'];
  const leaf = issueServerCertificate(authority, {
    dnsNames: names,
    ipAddresses: ['127.0.0.1', '10.96.0.1'],
    days: 7,
    now,
  });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const write = (name: string, text: string | Buffer): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const users = Object.entries(USERS).map(([user, { name, groups }]) => {
    const token = randomBytes(16).toString('hex');
    write(`${user}.kubeconfig`, kubeconfig(server, authority.certPem, token));
    return `${token},${name},${name}${groups === '' ? '' : `,${groups}`}\n`;
  });
  return {
    caFile: write('ca.crt', authority.certPem),
    certFile: write('apiserver.crt', leaf.certPem),
    keyFile: write('apiserver.key', leaf.keyPem),
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
