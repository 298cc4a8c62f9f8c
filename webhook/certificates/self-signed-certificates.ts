import {
  certificateValidity,
  createAuthority,
  issueServerCertificate,
  type CertificatePair,
} from '#shared/http/certificates.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { bundleOf, isDue, planAuthorities, promoted, type Authorities, type AuthorityPlan } from './authorities.ts';
import type { AuthorityStore, StoredAuthorities } from './authority-store.ts';
import type { CertificateSource, ServingCertificate } from './certificate-source.ts';
import { ERRORS } from '#webhook/messages.ts';

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

const DAY_MS = 86_400_000;
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
