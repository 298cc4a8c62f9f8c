import type { TlsOptions } from '#shared/http/serve.ts';

/** The certificate that the webhook serves at the moment. */
export interface ServingCertificate {
  readonly tls: TlsOptions;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /**
   * PEM of the CAs that clients must trust, the issuer of this certificate first; `undefined` when an administrator
   * registers it.
   */
  readonly caBundlePem: string | undefined;
}

/** Where certificates come from. */
export interface CertificateSource {
  /**
   * Loads the certificate to serve from now on. `isTrusted` says whether every webhook configuration has a bundle.
   * Rejects when there is no certificate.
   */
  load(isTrusted: (caBundlePem: string) => boolean): Promise<ServingCertificate>;
}
