/** Every sentence of `plimsoll explain`, to be read from top to bottom. */

export const NO_POLICY = 'default settings; no NodePressurePolicy selects the node';

export function policy(name: string, mode: string): string {
  return `${name} (${mode})`;
}

export function policyUnreadable(name: string, field: string, message: string): string {
  return `NodePressurePolicy ${name} cannot be read, so no pod of the node is evicted: ${field}: ${message}`;
}

export const NOT_ON_A_NODE = 'none; see plimsoll why-not';

export function place(position: number, reason: string): string {
  return `${position}: ${reason}`;
}

export const NOT_AMONG_NEXT = 'not among the pods that would be evicted next';
export const NO_FRESH_REPORT = 'unknown: the agent of the node has not reported for minutes';

export const NOT_PROTECTED = 'no';

export function budget(name: string, allowed: number): string {
  return `${name} (${allowed} disruptions allowed)`;
}

export function avoided(node: string, until: string, cause: string, hard: boolean): string {
  return `${node} until ${until}${hard ? ', no pod of the owner is placed there' : ''}: ${cause}`;
}

export function admittedTo(queue: string, at: string): string {
  return `${queue}, let in at ${at}`;
}

export function inQueue(queue: string, why: string): string {
  return `${queue}: ${why}`;
}

export const IN_NO_QUEUE = 'none; see the Event WaitsInQueue of the pod';

export function byPolicy(name: string, mode: string, why: string): string {
  return `${name} (${mode}) ${why}`;
}

export function evictedByPolicy(at: string, why: string): string {
  return `moved it at ${at}: ${why}`;
}

export function ownerStopped(until: string, why: string): string {
  return `leaves its owner alone until ${until}: ${why}`;
}

export function wouldMove(node: string, why: string): string {
  return `would move it to node ${node}: ${why}`;
}

export function staysWhere(why: string): string {
  return `leaves it where it is: ${why}`;
}

export function reschedulingNotKnown(cause: string): string {
  return `not known: ${cause}`;
}

export function noQuota(name: string, known: readonly string[]): string {
  const others = known.length === 0 ? '' : `; there are ${known.join(', ')}`;
  return `PriorityQuota ${name} not found${others}`;
}

export function expectedObject(words: readonly (string | undefined)[]): string {
  return `expected pod NAME, quota NAME, disruption NAME or TYPE/NAME, got ${words.filter((word) => word !== undefined).join(' ')}`;
}
