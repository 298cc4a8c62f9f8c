import type { CertificatePair } from '#shared/http/certificates.ts';

/** The self-made authorities that replicas share. */
export interface Authorities {
  /** Signs the certificates that are served. */
  readonly current: CertificatePair;
  /** Will sign them once every caller trusts it. */
  readonly next: CertificatePair | undefined;
  /** PEM; signed them until lately, so callers go on trusting it. */
  readonly previousPem: string;
}

/** What shall become of the authorities. */
export type AuthorityPlan =
  { readonly kind: 'keep' } | { readonly kind: 'make' } | { readonly kind: 'announce' } | { readonly kind: 'promote' };

export interface AuthorityView {
  readonly now: number;
  /** The authority's whole life in milliseconds. */
  readonly lifeMs: number;
  /** Since when every webhook configuration has carried `next`; `undefined` while one does not. */
  readonly nextTrustedSince: number | undefined;
  /** How long after that other API servers may still act on what they read before. */
  readonly overlapMs: number;
  /** Whether we register our authorities ourselves; who does not cannot know what callers trust. */
  readonly isRegistered: boolean;
}

const RENEWED_AT = 2 / 3;
/** Where somebody else registers the bundle: a sixth of the authority's life to do so, and a sixth to spare. */
const PROMOTED_UNSEEN_AT = 5 / 6;

/**
 * A new authority is announced before it signs anything (F-14): none → make → (at two thirds of its life) announce next →
 * (trusted everywhere for the overlap, or unseen at five sixths) promote it. The old one stays trusted until the next
 * rotation.
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

/** Whether two thirds of a certificate's life are over. */
export function isDue(notAfter: number, lifeMs: number, now: number): boolean {
  return now >= notAfter - lifeMs * (1 - RENEWED_AT);
}

/** Everything that callers must trust. */
export function bundleOf({ current, next, previousPem }: Authorities): string {
  return [current.certPem, next?.certPem ?? '', previousPem].join('');
}

/** The authorities after a rotation. */
export function promoted({ current, next }: Authorities): Authorities | undefined {
  return next && { current: next, next: undefined, previousPem: current.certPem };
}
