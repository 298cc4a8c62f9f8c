import type { Harness } from '#test/contract/harness.ts';
import { asUser, type AsUser } from './as-user.ts';
import type { ClusterObjects } from './cluster-objects.ts';

export const AGENT_USER = 'system:serviceaccount:plimsoll-node:plimsoll-agent';
/** The key under which the API server stores the node of the pod that a token is bound to. */
export const NODE_NAME_CLAIM = 'authentication.kubernetes.io/node-name';

/**
 * Our agent on a node, with all rights: a request that RBAC refuses never reaches a webhook. Call it in a `beforeAll`.
 */
export async function agentOf(api: Harness, objects: ClusterObjects, node: string): Promise<AsUser> {
  await objects.administrator(AGENT_USER);
  return asUser(api.target.connection, AGENT_USER, { extra: { [NODE_NAME_CLAIM]: node } });
}
