import { readFileSync } from 'node:fs';
import { certificateValidity, createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import type { TlsOptions } from '#shared/http/serve.ts';
import type { WebhookConfiguration } from './configuration.ts';

/** What the webhook serves with, and the authorities that callers must trust for it. */
export interface ServingCertificate {
  readonly tls: TlsOptions;
  /** PEM; `undefined` when somebody else registers the authority. */
  readonly caBundlePem: string | undefined;
  readonly notAfter: number;
}

type TlsConfiguration = WebhookConfiguration['tls'];

/** The certificate from files (cert-manager, an existing Secret), or one of a self-made authority. Throws what to mend. */
export function readServingCertificate(tls: TlsConfiguration, now: number): ServingCertificate {
  const clientCaPem = tls.clientCaFile === undefined ? undefined : readText(tls.clientCaFile);
  const { caBundlePem, ...pair } = tls.mode === 'self-signed' ? selfSigned(tls, now) : fromFiles(tls);
  return {
    tls: { certPem: pair.certPem, keyPem: pair.keyPem, ...(clientCaPem !== undefined && { clientCaPem }) },
    caBundlePem,
    notAfter: certificateValidity(pair.certPem).notAfter,
  };
}

function selfSigned(tls: TlsConfiguration, now: number) {
  const authority = createAuthority({ commonName: 'plimsoll-webhook-ca', days: tls.authorityDays, now });
  const { dnsNames, ipAddresses, leafDays: days } = tls;
  const leaf = issueServerCertificate(authority, { dnsNames, ipAddresses, days, now });
  return { certPem: leaf.certPem, keyPem: leaf.keyPem, caBundlePem: authority.certPem };
}

function fromFiles({ certFile = '', keyFile = '', caFile }: TlsConfiguration) {
  const caBundlePem = caFile === undefined ? undefined : readText(caFile);
  return { certPem: readText(certFile), keyPem: readText(keyFile), caBundlePem };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`Could not read certificate file "${path}"`, { cause: error });
  }
}
