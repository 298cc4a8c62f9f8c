import { ERRORS } from '#webhook/messages.ts';

/** A promise did not settle in time. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

/** Rejects with a `LateError` when the promise does not settle in time; its later result is ignored. */
export function withinTime<T>(pending: Promise<T>, deadlineMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const ms = Math.max(0, Math.round(deadlineMs));
    const timer = setTimeout(() => reject(new LateError(ERRORS.tooLate(ms))), ms);
    void pending.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
