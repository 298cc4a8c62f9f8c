/** The kubelet's back-off: 10 s, doubled up to 5 min, forgotten after 10 min of running well. */
export interface RestartBackoff {
  readonly initialMs: number;
  readonly mostMs: number;
  readonly forgetAfterMs: number;
}

export const KUBELET_BACKOFF: RestartBackoff = { initialMs: 10_000, mostMs: 300_000, forgetAfterMs: 600_000 };

/**
 * The pause before the next start, in milliseconds, and how many there were in a row. The first restart comes at once
 * (`pkg/kubelet/kuberuntime/kuberuntime_manager.go` doBackOff).
 */
export function nextRestart(
  backoff: RestartBackoff,
  restartsInARow: number,
  ranMs: number,
): { readonly delayMs: number; readonly restartsInARow: number } {
  const inARow = ranMs >= backoff.forgetAfterMs ? 0 : restartsInARow;
  const delayMs = inARow === 0 ? 0 : Math.min(backoff.mostMs, backoff.initialMs * 2 ** (inARow - 1));
  return { delayMs, restartsInARow: inARow + 1 };
}
