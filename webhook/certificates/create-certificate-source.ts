import { certificateValidity } from '#shared/http/certificates.ts';
import { readKeyPair } from '#shared/http/tls-files.ts';
import { readCertificates } from '#shared/runtime/certificate-file.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { memoryAuthorityStore, secretAuthorityStore } from './authority-store.ts';
import type { CertificateSource, ServingCertificate } from './certificate-source.ts';
import { selfSignedCertificates } from './self-signed-certificates.ts';
import type { WebhookConfiguration } from '#webhook/configuration.ts';

interface Surroundings {
  readonly client: KubeClient;
  readonly clock: Clock;
}

/** Creates the certificate source that the configuration selects. */
export function createCertificateSource(configuration: WebhookConfiguration, around: Surroundings): CertificateSource {
  const { clientCaFile } = configuration.tls;
  const source = servingSource(configuration, around);
  return clientCaFile === undefined ? source : withClientAuthority(source, clientCaFile);
}

function servingSource(
  { tls, registration }: WebhookConfiguration,
  { client, clock }: Surroundings,
): CertificateSource {
  const { secretName, secretNamespace } = tls;
  if (tls.mode !== 'self-signed') return fileCertificates(tls);
  const store =
    secretName === undefined ? memoryAuthorityStore() : secretAuthorityStore(client, secretNamespace, secretName);
  return selfSignedCertificates({ ...tls, isRegistered: registration.mode !== 'None', store, clock });
}

/** Certificates in files that cert-manager or an administrator creates and renews. */
function fileCertificates({ certFile = '', keyFile = '', caFile }: WebhookConfiguration['tls']): CertificateSource {
  const load = (): ServingCertificate => {
    const tls = readKeyPair(certFile, keyFile);
    const caBundlePem = caFile === undefined ? undefined : readCertificates(caFile);
    return { tls, ...certificateValidity(tls.certPem), caBundlePem };
  };
  return { load: () => Promise.resolve().then(load) };
}

/**
 * Adds the CA that must have signed client certificates. It is read on every load, so a new CA takes effect without a
 * restart; a file without a certificate makes the load fail, and the last valid one stays in use.
 */
export function withClientAuthority(source: CertificateSource, file: string): CertificateSource {
  return {
    load: async (isTrusted) => {
      const clientCaPem = readCertificates(file);
      const served = await source.load(isTrusted);
      return { ...served, tls: { ...served.tls, clientCaPem } };
    },
  };
}
