/**
 * How far another clock may be ahead, in milliseconds; a time further in the future is not usable
 * (docs/decisions/0027-times-and-claims-of-others.md).
 */
export const MAX_SKEW_MS = 60_000;
