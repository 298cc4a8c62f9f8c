import { MANAGED_LABEL } from '#shared/kube/namespace-switches.ts';
import { DRY_RUN_NOTE, type DryRunStrategy } from '#cli/process-io.ts';

/*
 * Every sentence of `plimsoll init`, to be read from top to bottom.
 */

export const NEXT = `These objects only report. To bring a namespace under them: kubectl label namespace NAME ${MANAGED_LABEL}`;

/** As kubectl prints it. */
export function created(object: string, strategy: DryRunStrategy): string {
  return `${object} created${DRY_RUN_NOTE[strategy]}`;
}

export function exists(object: string): string {
  return `${object} unchanged`;
}

export function othersExist(object: string, others: readonly string[]): string {
  return `${object} not created: ${others.slice(0, 5).join(', ')} ${others.length === 1 ? 'exists' : 'exist'}, which it could overrule`;
}

export function notServed(object: string): string {
  return `${object} not created: its definition is not installed`;
}

export function cannotCreate(object: string, cause: string): string {
  return `error: cannot create ${object}: ${cause}`;
}
