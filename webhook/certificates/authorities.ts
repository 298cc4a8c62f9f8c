import type { CertificatePair } from '#shared/http/certificates.ts';

/** The self-signed CAs that replicas share. */
export interface Authorities {
  /** The CA that signs the served certificates. */
  readonly current: CertificatePair;
  /** The CA that will sign them once every client trusts it. */
  readonly next: CertificatePair | undefined;
  /** PEM of the CA that signed them before; clients go on trusting it. */
  readonly previousPem: string;
}

/** The next step of the CA rotation. */
export type AuthorityPlan =
  { readonly kind: 'keep' } | { readonly kind: 'make' } | { readonly kind: 'announce' } | { readonly kind: 'promote' };

export interface AuthorityView {
  readonly now: number;
  /** The CA's lifetime in milliseconds. */
  readonly lifeMs: number;
  /** Since when every webhook configuration has contained `next`; `undefined` while one does not. */
  readonly nextTrustedSince: number | undefined;
  /** How long after that other API servers may still use an older configuration. */
  readonly overlapMs: number;
  /** Whether we register the CAs ourselves; otherwise it is unknown what clients trust. */
  readonly isRegistered: boolean;
}

const RENEWED_AT = 2 / 3;
/** When an administrator registers the bundle: one sixth of the CA's lifetime to do so, and one sixth to spare. */
const PROMOTED_UNSEEN_AT = 5 / 6;

/**
 * Plans the CA rotation. A new CA is announced before it signs anything: none → make → (at two thirds of its
 * lifetime) announce next → (trusted everywhere for the overlap, or at five sixths if trust is unknown) promote it. The
 * old CA stays trusted until the next rotation.
 */
export function planAuthorities(authorities: Authorities | undefined, view: AuthorityView): AuthorityPlan {
  if (authorities === undefined || authorities.current.notAfter <= view.now) return { kind: 'make' };
  if (authorities.next === undefined)
    return { kind: isDue(authorities.current.notAfter, view.lifeMs, view.now) ? 'announce' : 'keep' };
  return { kind: isNextDue(authorities.current, view) ? 'promote' : 'keep' };
}

function isNextDue({ notAfter }: CertificatePair, view: AuthorityView): boolean {
  const { now, lifeMs, nextTrustedSince, overlapMs, isRegistered } = view;
  if (!isRegistered) return now >= notAfter - lifeMs * (1 - PROMOTED_UNSEEN_AT);
  return nextTrustedSince !== undefined && now - nextTrustedSince >= overlapMs;
}

/** Whether two thirds of a certificate's lifetime are over. */
export function isDue(notAfter: number, lifeMs: number, now: number): boolean {
  return now >= notAfter - lifeMs * (1 - RENEWED_AT);
}

/** All CAs that clients must trust. */
export function bundleOf({ current, next, previousPem }: Authorities): string {
  return [current.certPem, next?.certPem ?? '', previousPem].join('');
}

/** The CAs after a promotion. */
export function promoted({ current, next }: Authorities): Authorities | undefined {
  return next && { current: next, next: undefined, previousPem: current.certPem };
}
