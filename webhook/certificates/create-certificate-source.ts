import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { memoryAuthorityStore, secretAuthorityStore } from './authority-store.ts';
import type { CertificateSource } from './certificate-source.ts';
import { withClientAuthority } from './client-authority.ts';
import { fileCertificates } from './file-certificates.ts';
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
  const { certFile, keyFile, caFile, secretName, secretNamespace } = tls;
  if (tls.mode !== 'self-signed') return fileCertificates({ certFile: certFile ?? '', keyFile: keyFile ?? '', caFile });
  const store =
    secretName === undefined ? memoryAuthorityStore() : secretAuthorityStore(client, secretNamespace, secretName);
  return selfSignedCertificates({ ...tls, isRegistered: registration.mode !== 'None', store, clock });
}
