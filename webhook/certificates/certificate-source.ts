import { DAY_MS } from '#shared/domain/base/durations.ts';
import {
  certificateValidity,
  createAuthority,
  issueServerCertificate,
  type CertificatePair,
} from '#shared/http/certificates.ts';
import { readKeyPair } from '#shared/http/tls-files.ts';
import { readCertificates } from '#shared/runtime/certificate-file.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { WebhookConfiguration } from '#webhook/configuration.ts';
import type { TlsOptions } from '#shared/http/serve.ts';
import { ERRORS } from '#webhook/messages.ts';
import {
  memoryAuthorityStore,
  secretAuthorityStore,
  bundleOf,
  isDue,
  planAuthorities,
  promoted,
  type Authorities,
  type AuthorityPlan,
  type AuthorityStore,
  type StoredAuthorities,
} from './authority-store.ts';

interface SourceContext {
  readonly client: KubeClient;
  readonly clock: Clock;
}

/** Creates the certificate source that the configuration selects. */
export function createCertificateSource(
  configuration: WebhookConfiguration,
  context: SourceContext,
): CertificateSource {
  const { clientCaFile } = configuration.tls;
  const source = servingSource(configuration, context);
  return clientCaFile === undefined ? source : withClientAuthority(source, clientCaFile);
}

function servingSource(
  { tls, registration }: WebhookConfiguration,
  { client, clock }: SourceContext,
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

export interface SelfSignedOptions {
  readonly store: AuthorityStore;
  readonly clock: Clock;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly authorityDays: number;
  readonly leafDays: number;
  readonly overlapSeconds: number;
  /** Whether we register the bundle ourselves and so know what clients trust. */
  readonly isRegistered: boolean;
}

/** How often another replica may write first before we wait for the next load. */
const ATTEMPTS = 3;

/** Certificates signed by a CA that the replicas create and share; a certificate's key never leaves its process. */
export function selfSignedCertificates(options: SelfSignedOptions): CertificateSource {
  const { store, clock, dnsNames, ipAddresses, authorityDays, leafDays } = options;
  let leaf: (CertificatePair & { readonly issuer: string }) | undefined;
  let trusted: { readonly bundle: string; readonly since: number } | undefined;

  async function load(isTrusted: (caBundlePem: string) => boolean): Promise<ServingCertificate> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const stored = await store.read();
      const planned = apply(plan(stored, isTrusted), stored);
      if (planned === stored.authorities && planned !== undefined) return serving(planned);
      if (planned !== undefined && (await store.write(planned, stored.version))) return serving(planned);
    }
    throw new Error(ERRORS.sharedAuthority());
  }

  function plan({ authorities }: StoredAuthorities, isTrusted: (caBundlePem: string) => boolean): AuthorityPlan {
    const bundle = authorities === undefined ? '' : bundleOf(authorities);
    if (bundle === '' || !isTrusted(bundle)) trusted = undefined;
    else if (trusted?.bundle !== bundle) trusted = { bundle, since: clock.monotonic() };
    const now = clock.now();
    return planAuthorities(authorities, {
      now,
      lifeMs: authorityDays * DAY_MS,
      nextTrustedSince: trusted && now - (clock.monotonic() - trusted.since),
      overlapMs: options.overlapSeconds * 1_000,
      isRegistered: options.isRegistered,
    });
  }

  function apply({ kind }: AuthorityPlan, { authorities }: StoredAuthorities): Authorities | undefined {
    switch (kind) {
      case 'keep':
        return authorities;
      case 'make':
        return { current: makeAuthority(), next: undefined, previousPem: '' };
      case 'announce':
        return authorities && { ...authorities, next: makeAuthority() };
      case 'promote':
        return authorities && promoted(authorities);
    }
  }

  function makeAuthority(): CertificatePair {
    const now = clock.now();
    // The name distinguishes CAs for people; TLS uses the key.
    const commonName = `plimsoll-webhook-ca ${new Date(now).toISOString()}`;
    return createAuthority({ commonName, days: authorityDays, now });
  }

  function serving(authorities: Authorities): ServingCertificate {
    const { current } = authorities;
    const now = clock.now();
    if (leaf?.issuer !== current.certPem || isDue(leaf.notAfter, leafDays * DAY_MS, now)) {
      // A certificate must not outlive its authority.
      const days = Math.min(leafDays, (current.notAfter - now) / DAY_MS);
      leaf = { ...issueServerCertificate(current, { dnsNames, ipAddresses, days, now }), issuer: current.certPem };
    }
    const { certPem, keyPem } = leaf;
    return { tls: { certPem, keyPem }, ...certificateValidity(certPem), caBundlePem: bundleOf(authorities) };
  }

  return { load };
}
