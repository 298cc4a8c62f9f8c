import { DRY_RUN_NOTE, type DryRunStrategy } from '#cli/process-io.ts';

/*
 * Every sentence of `plimsoll evict`, to be read from top to bottom.
 */

/** As `kubectl drain` prints it. */
export function evicted(pod: string, strategy: DryRunStrategy): string {
  return `pod/${pod} evicted${DRY_RUN_NOTE[strategy]}`;
}

export const NOTHING_SENT = 'nothing was sent: --dry-run=server asks the API server whether budgets allow the eviction';

export function podNotFound(pod: string): string {
  return `pod ${pod} not found`;
}

export function cannotRead(pod: string, cause: string): string {
  return `cannot read pod ${pod}: ${cause}`;
}

export function cannotEvict(pod: string, cause: string): string {
  return `error: cannot evict pod ${pod}: ${cause}`;
}

/** `detail` is the API server's, such as `The disruption budget web needs 2 healthy pods and has 2 currently`. */
export function budgetForbids(detail: string): string {
  const [, name, why] = /^The disruption budget (\S+) (.+)$/s.exec(detail) ?? [];
  return name === undefined || why === undefined ? detail : `PodDisruptionBudget ${name} ${why.replace(/\.$/, '')}`;
}

export const SEVERAL_BUDGETS =
  'more than one PodDisruptionBudget selects it, which the Eviction API does not support; ' +
  'change their selectors so that one is left';

export function anotherPod(pod: string): string {
  return `another pod now has the name ${pod}; check it, and run the command again`;
}

export const GONE = 'it is gone already';

export function mayHaveWorked(cause: string, pod: string): string {
  return `${cause}; the pod may still have been evicted: see kubectl get pod ${pod}`;
}

/** Follows a temporary refusal of the API server. */
export function tryAgain(seconds: number | undefined): string {
  return seconds === undefined ? '; try again later' : `; try again in ${seconds} s`;
}
