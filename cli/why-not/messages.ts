/** Every sentence of `plimsoll why-not`, to be read from top to bottom. */

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

/** `largest` is its pod that holds most of the resource. */
export function holdsMore(f: {
  readonly queue: string;
  readonly type: string;
  readonly used: string;
  readonly deserved: string;
  readonly largest: string | undefined;
}): string {
  const pod = f.largest === undefined ? '' : `; its largest pod is ${f.largest}`;
  return `queue ${f.queue} holds ${f.used} ${f.type} and deserves ${f.deserved}${pod}`;
}

/** Without a node, none lends any. */
export function lendsTooLittle(f: {
  readonly kind: string;
  readonly asked: string;
  readonly node: string;
  readonly left: string;
}): string {
  if (f.node === '') return `no node lends spare ${f.kind}`;
  return `no node lends ${f.asked} of spare ${f.kind}; ${f.node} lends most: ${f.left}`;
}

/** The last message of kube-scheduler. */
export function scheduled(message: string): string {
  return `kube-scheduler: ${message}`;
}

export const NO_PENDING_PODS = 'no pending pod found';

export const NAME_AMONG_OTHERS = "the name of a pod excludes '--all-namespaces' and '--selector'";
