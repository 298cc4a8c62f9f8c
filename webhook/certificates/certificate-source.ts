import type { TlsOptions } from '#shared/http/serve.ts';

/** What the webhook serves with at this moment. */
export interface ServingCertificate {
  readonly tls: TlsOptions;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** PEM of what callers must trust, the authority of this certificate first; `undefined` when somebody else registers it. */
  readonly caBundlePem: string | undefined;
}

/** Where certificates come from. */
export interface CertificateSource {
  /**
   * The certificate to serve from now on. `isTrusted` says whether every webhook configuration carries a bundle, and
   * since when. Rejects when there is none to be had.
   */
  load(isTrusted: (caBundlePem: string) => boolean): Promise<ServingCertificate>;
}
