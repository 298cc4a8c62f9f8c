import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

/** A holder of Leases that no other process is: a restarted container keeps its host name, and replicas may share one. */
export function newIdentity(): string {
  return `${hostname()}_${randomUUID()}`;
}
