import { accessSync, constants } from 'node:fs';
import type { Kubeconfig, KubeconfigCluster, KubeconfigContext, KubeconfigUser } from './kubeconfig-files.ts';

/** What the caller sets instead of the kubeconfig, as with kubectl's flags. */
export interface KubeconfigOverrides {
  readonly context?: string | undefined;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly server?: string | undefined;
  readonly token?: string | undefined;
  readonly skipTlsVerify?: boolean | undefined;
  readonly as?: string | undefined;
  readonly asUid?: string | undefined;
  readonly asGroups?: readonly string[] | undefined;
  readonly asExtra?: ReadonlyMap<string, readonly string[]> | undefined;
}

/** The cluster and the user of one context. */
export interface KubeconfigChoice {
  readonly context: string;
  readonly clusterName: string;
  readonly cluster: KubeconfigCluster;
  /** `http://…` or `https://…`. */
  readonly server: string;
  readonly user: KubeconfigUser;
  readonly namespace: string | undefined;
}

const NO_CLUSTER: KubeconfigCluster = { skipTlsVerify: false, raw: {} };
const NO_CONTEXT: KubeconfigContext = { cluster: '', user: '', namespace: undefined };
const NO_USER: KubeconfigUser = { asGroups: [], asExtra: new Map() };

/** The context to use, by kubectl's rules. Throws an error that names what is missing or contradictory. */
export function chooseContext(config: Kubeconfig, overrides: KubeconfigOverrides = {}): KubeconfigChoice {
  const context = overrides.context ?? config.currentContext ?? '';
  const chosen = { ...NO_CONTEXT, ...contextNamed(config, context) };
  const clusterName = overrides.cluster ?? chosen.cluster;
  const cluster = clusterOf(config, clusterName, overrides);
  const user = userOf(config, overrides.user ?? chosen.user, overrides);
  const server = serverOf(cluster, `${config.source}: context "${context}"`);
  if (server.startsWith('https:') || overrides.user !== undefined) expectUser(config, overrides.user ?? chosen.user);
  expectConsistentCluster(cluster, `${config.source}: cluster "${clusterName}"`);
  expectConsistentUser(user, config.source);
  return { context, clusterName, cluster, server, user, namespace: chosen.namespace };
}

function contextNamed({ contexts, source }: Kubeconfig, name: string): KubeconfigContext | undefined {
  const found = contexts.get(name);
  if (found === undefined && name !== '') {
    throw new Error(`no context "${name}" in ${source}: it has ${listed([...contexts.keys()])}`);
  }
  return found;
}

function listed(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ') || 'none';
}

function clusterOf({ clusters, source }: Kubeconfig, name: string, overrides: KubeconfigOverrides): KubeconfigCluster {
  const found = clusters.get(name);
  if (found === undefined && name !== '') {
    throw new Error(`no cluster "${name}" in ${source}: it has ${listed([...clusters.keys()])}`);
  }
  const { server } = overrides;
  // Another server has another name.
  const cluster = { ...(found ?? NO_CLUSTER), ...(server !== undefined && { server, serverName: undefined }) };
  if (overrides.skipTlsVerify === undefined) return cluster;
  const { skipTlsVerify } = overrides;
  return { ...cluster, skipTlsVerify, ...(skipTlsVerify && { caFile: undefined, caData: undefined }) };
}

/** Over plain http nothing is sent that a user is needed for. */
function expectUser({ users, source }: Kubeconfig, name: string): void {
  if (name !== '' && !users.has(name))
    throw new Error(`no user "${name}" in ${source}: it has ${listed([...users.keys()])}`);
}

function userOf({ users }: Kubeconfig, name: string, overrides: KubeconfigOverrides): KubeconfigUser {
  const found = users.get(name);
  const user = found ?? NO_USER;
  const { as = user.as, asUid = user.asUid, asGroups = user.asGroups, asExtra = user.asExtra, token } = overrides;
  const impersonating = { ...user, as, asUid, asGroups, asExtra };
  return token === undefined ? impersonating : { ...impersonating, token };
}

/** Without a scheme it is plain http. */
function serverOf({ server }: KubeconfigCluster, where: string): string {
  if (server === undefined) throw new Error(`no usable cluster in ${where} names no server`);
  return /^[a-z][a-z\d+.-]*:\/\/[^/]/i.test(server) ? withoutQuery(server) : `http://${server}`;
}

/** As client-go does if there is a path. */
function withoutQuery(server: string): string {
  if (!URL.canParse(server) || new URL(server).pathname.length <= 1) return server;
  return server.replace(/[?#].*$/, '');
}

function expectConsistentCluster({ caData, caFile, skipTlsVerify }: KubeconfigCluster, where: string): void {
  if (caData !== undefined && caFile !== undefined)
    throw new Error(`${where}: certificate-authority and certificate-authority-data exclude each other`);
  if (skipTlsVerify && (caData ?? caFile) !== undefined)
    throw new Error(`${where}: insecure-skip-tls-verify and a certificate authority exclude each other`);
  if (caFile !== undefined) expectReadable(caFile, where);
}

function expectReadable(path: string, where: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw new Error(`${where}: cannot read "${path}"`, { cause: error });
  }
}

function expectConsistentUser(user: KubeconfigUser, where: string): void {
  const problem = USER_RULES.find(([isBroken]) => isBroken(user))?.[1];
  if (problem !== undefined) throw new Error(`${where}: ${problem}`);
  for (const path of [user.certificateFile, user.keyFile]) if (path !== undefined) expectReadable(path, where);
}

/** What kubectl refuses as well: the first rule that the user breaks. */
const USER_RULES: readonly (readonly [(user: KubeconfigUser) => boolean, string])[] = [
  [
    ({ token, username, password }) => has(token) && (has(username) || has(password)),
    'token and username exclude each other',
  ],
  [
    ({ certificateData, certificateFile }) => has(certificateData) && has(certificateFile),
    'client-certificate and client-certificate-data exclude each other',
  ],
  [
    (user) => hasCertificate(user) && has(user.keyData) && has(user.keyFile),
    'client-key and client-key-data exclude each other',
  ],
  [
    (user) => hasCertificate(user) && !has(user.keyData) && !has(user.keyFile),
    'a client certificate needs client-key or client-key-data',
  ],
  [
    ({ as, asUid, asGroups, asExtra }) => !has(as) && (has(asUid) || asGroups.length > 0 || asExtra.size > 0),
    'a UID, groups or attributes to act with need a user to act as',
  ],
  [
    ({ exec, authProvider }) => exec !== undefined && authProvider !== undefined,
    'auth-provider and exec exclude each other',
  ],
  [({ exec }) => exec?.command === '', 'exec: command is missing'],
  [({ exec }) => exec?.apiVersion === '', 'exec: apiVersion is missing'],
  [
    ({ exec }) => exec !== undefined && !INTERACTIVE_MODES.includes(exec.interactiveMode),
    'exec: interactiveMode: expected Never, IfAvailable or Always',
  ],
];

const INTERACTIVE_MODES = ['Never', 'IfAvailable', 'Always'];

function has(text: string | undefined): boolean {
  return text !== undefined;
}

function hasCertificate({ certificateData, certificateFile }: KubeconfigUser): boolean {
  return has(certificateData) || has(certificateFile);
}
