import { DRY_RUN_NOTE, type DryRunStrategy } from '#cli/process-io.ts';

/*
 * Every sentence of `plimsoll mode`, to be read from top to bottom.
 */

/** Why the mode is not changed, and what to do. */
export interface Obstacle {
  readonly text: string;
  readonly next: string;
}

/** Which policies and nodes are changed, before the change. */
export function target(server: string, origin: Origin | undefined): string {
  return origin === undefined ? server : `context "${origin.context}", cluster "${origin.cluster}" (${server})`;
}

interface Origin {
  readonly context: string;
  readonly cluster: string;
}

export const QUESTION = 'The agents of these nodes would evict pods. Do you want to continue? (y/N)';
export const QUESTION_SET = 'With these values Plimsoll acts instead of reporting. Do you want to continue? (y/N)';
export const NOT_CONFIRMED = 'error: not confirmed, so nothing was changed; --yes skips the question';

export function noNodeSelected(selector: string): string {
  return `no node matches the selector "${selector}"; list labels with kubectl get nodes --show-labels`;
}

export function policyUnreadable(policy: string, field: string, cause: string): Obstacle {
  const next = `correct it with kubectl edit nodepressurepolicy ${policy}`;
  return { text: `cannot read NodePressurePolicy ${policy}: ${field}: ${cause}`, next };
}

export function policyWider(policy: string, others: readonly string[]): Obstacle {
  const text = `NodePressurePolicy ${policy} also applies to nodes that are not selected: ${listed(others)}`;
  return { text, next: 'select these nodes too, or apply a policy with a higher order for the selected nodes' };
}

export function nothingToChange(nodes: readonly string[]): Obstacle {
  const text = `no NodePressurePolicy selects ${listed(nodes)}`;
  return {
    text,
    next: 'apply one, such as deploy/examples/node-pressure-policy-dry-run.yaml, and run the command again',
  };
}

export function withoutPolicy(nodes: readonly string[]): string {
  return `warning: no NodePressurePolicy selects ${listed(nodes)}: the setting --mode of the agents there is unchanged`;
}

export function staysDryRun(policy: string, fields: readonly string[]): string {
  return `warning: ${policy}: ${fields.join(', ')} is DryRun: these thresholds evict no pod`;
}

/** As kubectl prints it. */
export function patched(policy: string, { isChanged, strategy }: PatchedHow): string {
  return `nodepressurepolicy.plimsoll.dev/${policy} patched${isChanged ? '' : ' (no change)'}${DRY_RUN_NOTE[strategy]}`;
}

interface PatchedHow {
  readonly isChanged: boolean;
  readonly strategy: DryRunStrategy;
}

export function cannotPatch(policy: string, cause: string): string {
  return `error: cannot patch NodePressurePolicy ${policy}: ${cause}`;
}

export function unknownObject(object: string, forms: readonly string[]): string {
  return `object "${object}" has no switches; use one of ${forms.join(', ')}`;
}

export function unknownField(field: string, fields: readonly string[]): string {
  return `field "${field}" is not a switch of this object; use one of ${fields.join(', ')}`;
}

export function unreadableSetting(setting: string): string {
  return `setting "${setting}" is not FIELD=VALUE, such as mode=Enforce`;
}

/** As kubectl prints it. */
export function set(object: string, strategy: DryRunStrategy): string {
  return `${object} patched${DRY_RUN_NOTE[strategy]}`;
}

export function cannotSet(object: string, cause: string): string {
  return `error: cannot set ${object}: ${cause}`;
}

const MAX_NAMED = 5;

function listed(nodes: readonly string[]): string {
  const more = nodes.length - MAX_NAMED;
  const named = nodes.slice(0, MAX_NAMED).join(', ');
  return more > 0 ? `${named} and ${more} more` : named;
}
