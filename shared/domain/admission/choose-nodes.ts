import { ownerKeyOf } from '#shared/domain/pod/pod-owner.ts';
import { type OwnerKey, ownerText } from '#shared/domain/pod/owner-key.ts';
import type { PodRequest } from './pod-request.ts';

/** Names of the nodes whose avoid list names an owner, those whose entries last longest first. */
export type AvoidLookup = (owner: OwnerKey) => readonly string[];

/** What a pod is given, with its owner for the message. */
export interface NodeChoice {
  readonly owner: string;
  /** Sorted. */
  readonly nodes: readonly string[];
}

/** Nodes that one pod is kept away from at most: an owner that many nodes evicted must not make its pods large. */
const MOST_NODES = 16;

/**
 * The nodes that a new pod should not be placed on because they evicted pods of its controller (S3-30); `undefined`
 * where there is none, and of many those whose entries last longest. Hard entries count like the others: what a pod
 * requires cannot be changed later, so it would outlast the entry, and a pod that fits one node only would never run.
 * The DaemonSet controller ties its pods to their nodes, so they are left as they are.
 */
export function chooseNodes({ pod }: PodRequest, lookUp: AvoidLookup | undefined): NodeChoice | undefined {
  const owner = ownerKeyOf(pod);
  const isBound = owner?.kind === 'DaemonSet' || (pod.spec.nodeName ?? '') !== '';
  if (lookUp === undefined || owner === undefined || isBound) return undefined;
  const nodes = lookUp(owner);
  return nodes.length === 0 ? undefined : { owner: ownerText(owner), nodes: nodes.slice(0, MOST_NODES).sort() };
}
