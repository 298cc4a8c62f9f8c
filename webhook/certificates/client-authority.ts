import { certificateValidity } from '#shared/http/certificates.ts';
import type { CertificateSource } from './certificate-source.ts';
import { readText } from './file-certificates.ts';
import { ERRORS } from '#webhook/messages.ts';

/**
 * Adds the CA that must have signed client certificates. It is read on every load, so a new CA takes effect without a
 * restart; a file without a certificate makes the load fail, and the last valid one stays in use.
 */
export function withClientAuthority(source: CertificateSource, file: string): CertificateSource {
  return {
    load: async (isTrusted) => {
      const clientCaPem = await readText(file);
      assertCertificate(clientCaPem, file);
      const served = await source.load(isTrusted);
      return { ...served, tls: { ...served.tls, clientCaPem } };
    },
  };
}

/** TLS would treat a text without certificates as a CA that has signed no client. */
function assertCertificate(pem: string, file: string): void {
  try {
    certificateValidity(pem);
  } catch (error) {
    throw new Error(ERRORS.clientAuthority(file), { cause: error });
  }
}
