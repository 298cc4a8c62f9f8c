import { QUEUE_GATE } from '#shared/kube/api-names.ts';
/** Every sentence of `plimsoll why-not`, to be read from top to bottom. */

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

export function gated(gates: readonly string[]): string {
  const queue = gates.includes(QUEUE_GATE) ? '; its Event WaitsInQueue says what its queue lacks' : '';
  return `scheduling gates keep it from being scheduled until they are removed: ${gates.join(', ')}${queue}`;
}

export function terminating(): string {
  return 'the pod is terminating, so it is not scheduled';
}

export function fitsNow(nodes: number): string {
  return (
    `it fits on ${nodes === 1 ? '1 node as it is' : `${nodes} nodes as they are`}; kube-scheduler has not tried again yet, ` +
    'or what keeps it away is not simulated: volumes, dynamic resources, other plugins'
  );
}

export function otherScheduler(name: string): string {
  return `scheduler ${name} is to place it; see that it runs and is set up like the default scheduler`;
}

export function neverPreempts(className: string): string {
  return `its priority class ${className || '<none>'} never preempts, so it waits for room`;
}

/** The last message of kube-scheduler. */
export function scheduled(message: string): string {
  return `kube-scheduler: ${message}`;
}

export const NO_PENDING_PODS = 'no pending pod found';
