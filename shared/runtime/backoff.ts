/** How waiting grows from failure to failure. */
export interface Backoff {
  readonly initialMs: number;
  readonly maxMs: number;
  readonly factor: number;
  /** Share of the delay that is random: 0 always the full delay, 1 anything from 0 to it. */
  readonly jitter: number;
}

/**
 * The delay in milliseconds before retry number `attempt` (0 = after the first failure).
 * `random01` is a number in [0, 1), handed in so that the result is decided by its inputs alone.
 */
export function backoffDelay(backoff: Backoff, attempt: number, random01: number): number {
  const grown = Math.min(backoff.maxMs, backoff.initialMs * backoff.factor ** attempt);
  return grown * (1 - backoff.jitter * random01);
}
