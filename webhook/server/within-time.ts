/** What was waited for did not come in time. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

/** Rejects with a `LateError` when a value that is waited for is not there in time; whatever becomes of it later is dropped. */
export function withinTime<T>(pending: Promise<T>, deadlineMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const ms = Math.max(0, Math.round(deadlineMs));
    const timer = setTimeout(() => reject(new LateError(`not done within ${ms} ms`)), ms);
    void pending.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
