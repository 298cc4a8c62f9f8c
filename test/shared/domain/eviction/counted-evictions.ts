import type { Debit } from '#shared/domain/disruption/account.ts';
import type { WantedEviction } from '#shared/domain/eviction/count-eviction.ts';

/** An eviction as it was asked for, and the limit that it went beyond. */
export interface Evicted extends WantedEviction {
  readonly overran?: string;
}

/** A pod on node `a`; its name by number. */
export function evictedPod(index: number): Omit<WantedEviction, 'at'> {
  const pod = `p${index}`;
  const caller = 'system:serviceaccount:plimsoll-node:plimsoll-agent';
  return { node: 'a', namespace: 'team', pod, uid: `uid-${pod}`, owner: undefined, component: 'Agent', caller };
}

/** How the account of all namespaces has it. */
export function counted({ node, owner, overran, ...evicted }: Evicted): Debit {
  const ofOwner = owner === undefined ? [] : [`owner/${owner}`];
  const rules = ['cluster', `node/${node}`, `node/${node}/${evicted.namespace}`, ...ofOwner];
  return { ...evicted, rules, lapsesAt: evicted.at + 600_000, cause: undefined, overran };
}
