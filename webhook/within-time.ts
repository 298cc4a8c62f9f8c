/** Rejects when a value that is waited for is not there in time; whatever becomes of it later is dropped. */
export function withinTime<T>(pending: Promise<T>, deadlineMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Not decided within ${deadlineMs} ms`)), deadlineMs);
    void pending.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
