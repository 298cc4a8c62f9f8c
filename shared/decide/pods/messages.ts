import type { Cause } from '#shared/domain/disruption/disruption.ts';

/*
 * Every sentence about what is the matter with one pod, to be read from top to bottom. Each cause of a removal has its
 * own word, which no sentence about another cause uses (S0-1); a test checks all of them.
 */

const WHAT_HAPPENED: Readonly<Record<Cause, (node: string) => string>> = {
  Preemption: (node) => `was preempted on ${node}`,
  Eviction: (node) => `was evicted from ${node}`,
  KubeletEviction: (node) => `was evicted from ${node} by the kubelet`,
  Rescheduling: (node) => `was moved off ${node} by the rescheduler`,
  Reclaim: (node) => `was reclaimed from ${node} for another queue`,
  Drain: (node) => `was removed from ${node} while the node was drained`,
  Taint: (node) => `was removed from ${node} because of a taint`,
  Deletion: (node) => `was deleted from ${node}`,
  OOMKill: (node) => `was killed on ${node} because it ran out of memory`,
  NodeLost: (node) => `was lost with ${node}`,
  Unknown: (node) => `was removed from ${node} for an unknown cause`,
};

export function whatHappened(cause: Cause, node: string): string {
  return WHAT_HAPPENED[cause](node === '' ? 'its node' : `node ${node}`);
}

export function placed(node: string): string {
  return `the pod is on ${node}`;
}

export function ended(phase: string): string {
  return `the pod has ended: ${phase}`;
}

/** `reason` is the kubelet's, such as OutOfcpu. */
export function refusedByKubelet(node: string, reason: string): string {
  return (
    `the kubelet of ${node} refused the pod (${reason}): another scheduler used the room first, or the node changed; ` +
    'no other pod is removed for it, and its controller, if it has one, creates another'
  );
}

export const TERMINATING = 'the pod is terminating, so it is not scheduled';

export function gated(gates: readonly string[]): string {
  return `scheduling gates keep it from being scheduled until they are removed: ${gates.join(', ')}`;
}

export const WAITS_IN_QUEUE = 'it waits in its queue; the leader of the queues has not said yet for what';

export const NOT_TRIED = 'kube-scheduler has not tried to place it yet';

export function removed(cause: Cause, node: string, why: string): string {
  return `it ${whatHappened(cause, node)}: ${why}`;
}

/** What the API server said to a controller. */
export function refused(kind: string, name: string, note: string): string {
  return `${kind} ${name} could not create it: ${note}`;
}

export function killedAtLimit(container: string): string {
  return `the kernel killed container ${container} because memory ran out; usually it reached its own limit`;
}

export const NOT_FOUND = 'there is no such pod, and no record or Event says what became of it';

interface ShownGang {
  readonly gang: string;
  /** How many of its pods exist. */
  readonly present: number;
}

/** `placed` of the pods were let in or are on nodes. */
export function gangOfPods(
  f: ShownGang & { readonly placed: number; readonly min: number; readonly size: number },
): string {
  const together = f.min === f.size ? 'all of them' : `at least ${f.min}`;
  return `${f.gang}: ${f.present} of ${f.size} pods exist, ${f.placed} let in; ${together} run together`;
}

export function gangOfGroup({ gang, present, api }: ShownGang & { readonly api: string }): string {
  return `${gang}: ${present} pods exist; how many run together is said by its PodGroup of ${api}`;
}
