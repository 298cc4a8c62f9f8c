import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import {
  decodeObject,
  readAnyText,
  readBoolean,
  readList,
  readObject,
  readPart,
  readTextMap,
  readTexts,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { parseYaml } from '#shared/runtime/yaml-text.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { Environment } from './connection.ts';

/** The kubeconfigs that a user names, as one. Paths in it are absolute. */
export interface Kubeconfig {
  /** For messages. */
  readonly source: string;
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, KubeconfigCluster>;
  readonly users: ReadonlyMap<string, KubeconfigUser>;
  readonly contexts: ReadonlyMap<string, KubeconfigContext>;
}

export interface KubeconfigCluster {
  readonly server?: string | undefined;
  readonly serverName?: string | undefined;
  readonly skipTlsVerify: boolean;
  readonly caFile?: string | undefined;
  readonly caData?: string | undefined;
  readonly proxyUrl?: string | undefined;
  /** The fields that an exec plugin may ask for, as they are in the file. */
  readonly raw: WireObject;
}

export interface KubeconfigUser {
  readonly certificateFile?: string | undefined;
  readonly certificateData?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly keyData?: string | undefined;
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly as?: string | undefined;
  readonly asUid?: string | undefined;
  readonly asGroups: readonly string[];
  readonly asExtra: ReadonlyMap<string, readonly string[]>;
  readonly exec?: ExecPlugin | undefined;
  readonly authProvider?: AuthProvider | undefined;
}

/** A program that prints credentials. */
export interface ExecPlugin {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  readonly apiVersion: string;
  readonly installHint: string;
  readonly interactiveMode: string;
  readonly provideClusterInfo: boolean;
}

export interface AuthProvider {
  readonly name: string;
  readonly config: ReadonlyMap<string, string>;
}

export interface KubeconfigContext {
  readonly cluster: string;
  readonly user: string;
  readonly namespace: string | undefined;
}

/**
 * Reads kubeconfigs as kubectl does: the named file, else those of `$KUBECONFIG`, of which missing ones are passed over,
 * else `~/.kube/config`. Of entries with the same name the first file's counts. Throws an error that names the file.
 */
export function readKubeconfigs(path: string | undefined, env: Environment): Kubeconfig {
  if (path !== undefined) return { ...mergeKubeconfigs([readRequired(path)]), source: `kubeconfig "${path}"` };
  const files = defaultPaths(env).flatMap((each) => readIfPresent(each) ?? []);
  return { ...mergeKubeconfigs(files), source: 'the default kubeconfig' };
}

function defaultPaths(env: Environment): readonly string[] {
  const named = env['KUBECONFIG'] ?? '';
  if (named === '') return [join(env['HOME'] ?? homedir(), '.kube', 'config')];
  return [...new Set(named.split(':').filter((each) => each !== ''))];
}

type Entries = Omit<Kubeconfig, 'source'>;

function readRequired(path: string): Entries {
  const file = attempt(path, () => readFileSync(path, 'utf8'));
  return attempt(path, () => decodeKubeconfig(file, dirname(resolve(path))));
}

function readIfPresent(path: string): Entries | undefined {
  try {
    return readRequired(path);
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw error;
  }
}

function attempt<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`cannot read kubeconfig "${path}": ${errorText(error)}`, { cause: error });
  }
}

/** The entries of the files in their order. */
export function mergeKubeconfigs(files: readonly Entries[]): Entries {
  const first = <T>(entriesOf: (file: Entries) => ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
    new Map(files.toReversed().flatMap((file) => [...entriesOf(file)]));
  return {
    currentContext: files.find((file) => file.currentContext !== undefined)?.currentContext,
    clusters: first((file) => file.clusters),
    users: first((file) => file.users),
    contexts: first((file) => file.contexts),
  };
}

/** The entries of one file; its paths are relative to `directory`. Throws an error that names the wrong field. */
export function decodeKubeconfig(text: string, directory: string): Entries {
  const content = text.trim() === '' ? {} : (parseYaml(text) ?? {});
  const decoded = decodeObject(content, (root) => readEntries(root, directory));
  if (decoded.ok) return decoded.value;
  throw new Error([decoded.field, decoded.message].filter((part) => part !== '').join(': '));
}

function readEntries(root: WireObject, directory: string): Entries {
  expectConfig(root);
  return {
    currentContext: textOf(root, 'current-context'),
    clusters: named(root, 'clusters', 'cluster', (cluster) => readCluster(cluster, directory)),
    users: named(root, 'users', 'user', (user) => readUser(user, directory)),
    contexts: named(root, 'contexts', 'context', readContext),
  };
}

function expectConfig(root: WireObject): void {
  const [kind = 'Config', version = 'v1'] = [textOf(root, 'kind'), textOf(root, 'apiVersion')];
  if (kind !== 'Config' || version !== 'v1') throw new Error(`expected kind Config of v1, got ${kind} of ${version}`);
}

/** Empty counts as absent. */
function textOf(object: WireObject, key: string): string | undefined {
  const text = readAnyText(object, key);
  return text === '' ? undefined : text;
}

function named<T>(
  root: WireObject,
  list: string,
  field: string,
  read: (entry: WireObject) => T,
): ReadonlyMap<string, T> {
  const entries = readList(root, list, (each) => [textOf(each, 'name') ?? '', readPart(each, field, read)] as const);
  const names = entries.map(([name]) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`${list}: name "${twice}" stands twice`);
  return new Map(entries);
}

function readCluster(cluster: WireObject, directory: string): KubeconfigCluster {
  return {
    server: textOf(cluster, 'server'),
    serverName: textOf(cluster, 'tls-server-name'),
    skipTlsVerify: readBoolean(cluster, 'insecure-skip-tls-verify'),
    caFile: pathOf(cluster, 'certificate-authority', directory),
    caData: textOf(cluster, 'certificate-authority-data'),
    proxyUrl: textOf(cluster, 'proxy-url'),
    raw: cluster,
  };
}

function pathOf(object: WireObject, key: string, directory: string): string | undefined {
  const path = textOf(object, key);
  return path === undefined || isAbsolute(path) ? path : join(directory, path);
}

function readUser(user: WireObject, directory: string): KubeconfigUser {
  return {
    certificateFile: pathOf(user, 'client-certificate', directory),
    certificateData: textOf(user, 'client-certificate-data'),
    keyFile: pathOf(user, 'client-key', directory),
    keyData: textOf(user, 'client-key-data'),
    token: textOf(user, 'token'),
    tokenFile: pathOf(user, 'tokenFile', directory),
    username: textOf(user, 'username'),
    password: textOf(user, 'password'),
    as: textOf(user, 'as'),
    asUid: textOf(user, 'as-uid'),
    asGroups: readTexts(user, 'as-groups'),
    asExtra: readPart(user, 'as-user-extra', textLists),
    exec: readObject(user, 'exec', (exec) => readExec(exec, directory)),
    authProvider: readObject(user, 'auth-provider', (provider) => ({
      name: textOf(provider, 'name') ?? '',
      config: readTextMap(provider, 'config'),
    })),
  };
}

function textLists(object: WireObject): ReadonlyMap<string, readonly string[]> {
  return new Map(Object.keys(object).map((key) => [key, readTexts(object, key)]));
}

/** A command with a slash is a path; others are searched in PATH. */
function readExec(exec: WireObject, directory: string): ExecPlugin {
  const command = textOf(exec, 'command') ?? '';
  const env = readList(exec, 'env', (each) => [textOf(each, 'name') ?? '', textOf(each, 'value') ?? ''] as const);
  const apiVersion = textOf(exec, 'apiVersion') ?? '';
  return {
    command: command.includes('/') && !isAbsolute(command) ? join(directory, command) : command,
    args: readTexts(exec, 'args'),
    env: new Map(env),
    apiVersion,
    installHint: textOf(exec, 'installHint') ?? '',
    interactiveMode: textOf(exec, 'interactiveMode') ?? (apiVersion.endsWith('/v1beta1') ? 'IfAvailable' : ''),
    provideClusterInfo: readBoolean(exec, 'provideClusterInfo'),
  };
}

function readContext(context: WireObject): KubeconfigContext {
  return {
    cluster: textOf(context, 'cluster') ?? '',
    user: textOf(context, 'user') ?? '',
    namespace: textOf(context, 'namespace'),
  };
}
