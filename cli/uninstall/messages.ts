/*
 * Every sentence of `plimsoll uninstall`, to be read from top to bottom.
 */

export const ONLY_DRY_RUN =
  "error: plimsoll does not remove its manifests: '--dry-run=client' lists them, '--clean-up' removes what they leave; docs/guides/install.md has the commands";

export function stillInstalled(workload: string): string {
  return `cannot clean up while ${workload} is installed, whose processes would write it again: delete the release or the manifests first`;
}

export const NOTHING_LEFT = 'nothing is left';

export function cleanedUp(what: string, dryRun: boolean): string {
  return `${what} removed${dryRun ? ' (dry run)' : ''}`;
}

export function cannotCleanUp(what: string, cause: string): string {
  return `error: cannot remove ${what}: ${cause}`;
}

/** As `kubectl delete --dry-run=client` prints it. */
export function deleted(resource: string, name: string, namespace: string): string {
  return `${resource} "${name}" deleted${namespace === '' ? '' : ` from ${namespace} namespace`} (dry run)`;
}

export const NOTHING_INSTALLED = 'No resources found';

/** Something that stays, and how to remove it. */
export interface Remnant {
  readonly what: string;
  readonly next: string;
}

export function definitionStays(name: string, objects: number): Remnant {
  const what = `customresourcedefinition ${name}, ${objects === 1 ? '1 object' : `${objects} objects`}`;
  return { what, next: `kubectl delete customresourcedefinition ${name} deletes its objects too` };
}

export function taintStays(node: string, key: string): Remnant {
  return { what: `node ${node}, taint ${key}`, next: `kubectl taint nodes ${node} ${key}-` };
}

export function spareRoomStays(node: string): Remnant {
  return { what: `node ${node}, spare room`, next: 'plimsoll uninstall --clean-up, once nothing is installed' };
}

export function gatesStay(pods: number): Remnant {
  const what = `${pods === 1 ? '1 pod' : `${pods} pods`} with the scheduling gate plimsoll.dev/queue`;
  return { what, next: 'plimsoll queue release --all-namespaces' };
}

export function limitStays(pod: string): Remnant {
  const next =
    'relief: [Evict] in the NodePressurePolicy, while agents run; then kubectl patch pod --subresource=resize';
  return { what: `pod ${pod}, CPU limit lowered`, next };
}

export function labelStays(namespace: string, key: string): Remnant {
  return { what: `namespace ${namespace}, label ${key}`, next: `kubectl label namespace ${namespace} ${key}-` };
}
