/**
 * Aborts `to` when `from` does, until the returned function is called. `AbortSignal.any()` would be shorter, but a
 * long-lived source keeps memory of each signal derived from it.
 */
export function forwardAbort(from: AbortSignal, to: AbortController): () => void {
  const forward = (): void => to.abort(from.reason);
  if (from.aborted) forward();
  from.addEventListener('abort', forward);
  return () => from.removeEventListener('abort', forward);
}
