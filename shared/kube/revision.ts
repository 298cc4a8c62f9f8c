/** Beyond this many digits a number is no longer exact; etcd counts one by one and does not get there. */
const DECIMAL = /^\d{1,15}$/;

/**
 * A resourceVersion as a number. Kubernetes says since 1.35 what has always been so with etcd: those of one kind of
 * objects are decimal numbers that rise with each change. `undefined` for any other text.
 */
export function readRevision(resourceVersion: string | undefined): number | undefined {
  return resourceVersion !== undefined && DECIMAL.test(resourceVersion) ? Number(resourceVersion) : undefined;
}
