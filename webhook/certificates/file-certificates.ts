import { readFile } from 'node:fs/promises';
import { certificateValidity } from '#shared/http/certificates.ts';
import type { CertificateSource } from './certificate-source.ts';
import { ERRORS } from '#webhook/messages.ts';

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string | undefined;
}

/** Certificates in files that cert-manager or an administrator creates and renews. */
export function fileCertificates({ certFile, keyFile, caFile }: CertificateFiles): CertificateSource {
  return {
    load: async () => {
      const [certPem, keyPem] = await Promise.all([readText(certFile), readText(keyFile)]);
      const caBundlePem = caFile === undefined ? undefined : await readText(caFile);
      return { tls: { certPem, keyPem }, ...certificateValidity(certPem), caBundlePem };
    },
  };
}

/** Rejects with the name of the file. */
export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(ERRORS.certificateFile(path), { cause: error });
  }
}
