import { DRY_RUN_NOTE, type DryRunStrategy } from '#cli/process-io.ts';

/*
 * Every sentence of `plimsoll queue`, to be read from top to bottom.
 */

/** `others` are the scheduling gates that stay. */
export function released(pod: string, namespace: string, others: readonly string[], strategy: DryRunStrategy): string {
  const stay = others.length === 0 ? '' : `, still held by ${others.join(', ')}`;
  return `pod/${pod} released in namespace ${namespace}${stay}${DRY_RUN_NOTE[strategy]}`;
}

export const NOTHING_WAITS = 'no pod waits in a queue';

export function cannotRelease(pod: string, cause: string): string {
  return `error: cannot release pod ${pod}: ${cause}`;
}

export const TOGETHER = "'--namespace' and '--all-namespaces' exclude each other";

export function inNoQueue(namespace: string): string {
  return `no pod of namespace ${namespace} is in a queue`;
}
