import { randomBytes } from 'node:crypto';
import { serviceAccountUser } from '#shared/domain/priority/classes-and-policies.ts';
import { COMPONENT_NAMES, CONTROLLER, NAMESPACE_NODE, NAMESPACE_SYSTEM } from '#shared/kube/api-names.ts';

/** All clients of the API server, each with the name it has in a real cluster. */
export type Speaker = 'webhook' | 'agent' | 'scheduler' | 'dashboard' | 'kube-scheduler' | 'controllers' | 'node';

export interface Identity {
  readonly username: string;
  readonly groups: readonly string[];
  /** Claims of a token, as in a TokenReview. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface Identities {
  readonly tokens: Readonly<Record<Speaker, string>>;
  /** By token. */
  readonly users: ReadonlyMap<string, Identity>;
}

/** New tokens for all of them. */
export function createIdentities(nodeName: string): Identities {
  const speakers: Readonly<Record<Speaker, Identity>> = {
    webhook: serviceAccount(NAMESPACE_SYSTEM, COMPONENT_NAMES.webhook),
    agent: onNode(nodeName, serviceAccount(NAMESPACE_NODE, COMPONENT_NAMES.agent)),
    scheduler: serviceAccount(NAMESPACE_SYSTEM, CONTROLLER),
    dashboard: serviceAccount(NAMESPACE_SYSTEM, CONTROLLER),
    'kube-scheduler': user('system:kube-scheduler'),
    controllers: user('system:kube-controller-manager'),
    node: user(`system:node:${nodeName}`, 'system:nodes'),
  };
  const entries = Object.entries(speakers).map(([name, identity]) => ({ name, identity, token: newToken() }));
  return {
    tokens: Object.fromEntries(entries.map(({ name, token }) => [name, token])) as Record<Speaker, string>,
    users: new Map(entries.map(({ token, identity }) => [token, identity])),
  };
}

function serviceAccount(namespace: string, name: string): Identity {
  return user(serviceAccountUser({ namespace, name }), 'system:serviceaccounts');
}

/** As the API server identifies a token bound to a pod on that node. */
function onNode(nodeName: string, identity: Identity): Identity {
  return { ...identity, extra: { 'authentication.kubernetes.io/node-name': [nodeName] } };
}

function user(username: string, ...groups: readonly string[]): Identity {
  return { username, groups: [...groups, 'system:authenticated'] };
}

function newToken(): string {
  return randomBytes(24).toString('base64url');
}
