import { certificateValidity } from '#shared/http/certificates.ts';
import type { CertificateSource } from './certificate-source.ts';
import { readText } from './file-certificates.ts';

/**
 * Adds the authority that callers must be certified by. It is read at every look, so a new one is in force without a
 * restart (F-15); a file that holds no certificate makes the look fail, and the last good one stays.
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

/** TLS would take a text without certificates for an authority that has signed nobody. */
function assertCertificate(pem: string, file: string): void {
  try {
    certificateValidity(pem);
  } catch (error) {
    throw new Error(`Could not use "${file}" as authority of callers: it holds no certificate`, { cause: error });
  }
}
