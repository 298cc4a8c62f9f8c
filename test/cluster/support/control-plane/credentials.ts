import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CertificatePair,
  createAuthority,
  issueClientCertificate,
  issueServerCertificate,
} from '#shared/http/certificates.ts';
import { buildKubeconfig } from '#test/build/kubeconfig.ts';
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
  const files = credentialsIn(folder);
  const write = (path: string, text: string | Buffer): void => writeFileSync(path, text, { mode: 0o600 });
  const writePair = ({ certFile, keyFile }: CertificateFiles, { certPem, keyPem }: CertificatePair): void => {
    write(certFile, certPem);
    write(keyFile, keyPem);
  };
  write(files.caFile, authority.certPem);
  writePair(files.apiServer, serving(API_SERVER_NAMES, ['127.0.0.1', '::1', SERVICE_PLACE.host]));
  writePair(files.kubelet, serving([NODE_NAME], [NODE_ADDRESS]));
  writePair(files.kubeletClient, issueClientCertificate(authority, { commonName: KUBELET_CLIENT, days: DAYS, now }));
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  write(files.serviceAccountKeyFile, privateKey.export({ type: 'pkcs1', format: 'pem' }));
  const users = Object.entries(USERS).map(([user, { name, groups }]) => {
    const token = randomBytes(16).toString('hex');
    write(files.kubeconfig(user as User), buildKubeconfig({ server, ca: authority.certPem }, { token }));
    return `${token},${name},${name}${groups === '' ? '' : `,${groups}`}\n`;
  });
  write(files.tokenFile, users.join(''));
  return files;
}

/** Where the files are in a folder that `writeCredentials` has filled, on this machine or another. */
export function credentialsIn(folder: string): Credentials {
  const pair = (name: string): CertificateFiles => ({
    certFile: join(folder, `${name}.crt`),
    keyFile: join(folder, `${name}.key`),
  });
  return {
    caFile: join(folder, 'ca.crt'),
    apiServer: pair('apiserver'),
    kubelet: pair('kubelet'),
    kubeletClient: pair('kubelet-client'),
    serviceAccountKeyFile: join(folder, 'service-account.key'),
    tokenFile: join(folder, 'tokens.csv'),
    kubeconfig: (user) => join(folder, `${user}.kubeconfig`),
  };
}
