import { execFile } from 'node:child_process';
import { fieldOf, isRecord, jsonIn } from '#shared/kube/decode/wire-object.ts';
import type { Environment } from './connection.ts';
import type { ExecPlugin, KubeconfigCluster } from './kubeconfig-files.ts';

/** What a plugin printed. */
export interface ExecCredentials {
  readonly token?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** Milliseconds since 1970; without it they do not expire. */
  readonly expiresAt?: number | undefined;
}

/** Credentials that are asked for when needed. */
export interface CredentialSource {
  current(): Promise<ExecCredentials>;
  /** The API server does not accept the present ones. */
  reject(): void;
}

/** Runs a plugin at first use, when its credentials have expired and when they were rejected. */
export function execCredentials(
  plugin: ExecPlugin,
  server: string,
  cluster: KubeconfigCluster,
  { env, now = Date.now }: { readonly env: Environment; readonly now?: () => number },
): CredentialSource {
  let latest: Promise<ExecCredentials> | undefined;
  let expiresAt = Infinity;
  const renew = async (): Promise<ExecCredentials> => {
    const credentials = decodeCredentials(
      plugin,
      await runPlugin(plugin, { ...env, ...execInfo(plugin, server, cluster) }),
    );
    expiresAt = credentials.expiresAt ?? Infinity;
    return credentials;
  };
  const forget = (): void => {
    latest = undefined;
    expiresAt = Infinity;
  };
  return {
    current: () => {
      if (now() >= expiresAt) forget();
      if (latest !== undefined) return latest;
      latest = renew();
      latest.catch(forget);
      return latest;
    },
    reject: forget,
  };
}

function execInfo(plugin: ExecPlugin, server: string, { raw }: KubeconfigCluster): Record<string, string> {
  const { apiVersion, provideClusterInfo } = plugin;
  const spec = { ...(provideClusterInfo && { cluster: { ...raw, server } }), interactive: false };
  return { KUBERNETES_EXEC_INFO: JSON.stringify({ kind: 'ExecCredential', apiVersion, spec }) };
}

const EXEC_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

/** Rejects with an error that says how to install the plugin if it is not there. */
async function runPlugin(plugin: ExecPlugin, base: Environment): Promise<string> {
  const { command, args, installHint } = plugin;
  if (!EXEC_VERSIONS.includes(plugin.apiVersion))
    throw new Error(`cannot run exec plugin "${command}": apiVersion: expected ${EXEC_VERSIONS.join(' or ')}`);
  if (plugin.interactiveMode === 'Always') throw new Error(`cannot run exec plugin "${command}": it needs a terminal`);
  return new Promise((resolve, reject) => {
    const child = execFile(
      command,
      [...args],
      { env: { ...base, ...Object.fromEntries(plugin.env) } },
      (error, stdout, stderr) => {
        if (error === null) {
          resolve(stdout);
          return;
        }
        const isMissing = error.code === 'ENOENT' && installHint !== '';
        const said = stderr.trim() === '' ? error.message : stderr.trim();
        reject(new Error(`cannot run exec plugin "${command}": ${isMissing ? installHint : said}`, { cause: error }));
      },
    );
    child.stdin?.on('error', () => undefined).end();
  });
}

function decodeCredentials({ command, apiVersion }: ExecPlugin, stdout: string): ExecCredentials {
  const printed = jsonIn(stdout);
  const problem = (what: string) => new Error(`cannot use what exec plugin "${command}" printed: ${what}`);
  if (!isRecord(printed)) throw problem('expected JSON');
  const version = printed['apiVersion'] ?? apiVersion;
  if (version !== apiVersion) throw problem(`expected apiVersion ${apiVersion}, got ${JSON.stringify(version)}`);
  const { status } = printed;
  const [token, certificate, key, expires] = [
    'token',
    'clientCertificateData',
    'clientKeyData',
    'expirationTimestamp',
  ].map((field) => textIn(status, field));
  if (token === undefined && (certificate === undefined || key === undefined))
    throw problem('neither a token nor a certificate with its key');
  if ((certificate === undefined) !== (key === undefined)) throw problem('a certificate needs its key');
  return { token, certificate, key, expiresAt: expires === undefined ? undefined : Date.parse(expires) };
}

function textIn(status: unknown, field: string): string | undefined {
  const value = fieldOf(status, field);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
