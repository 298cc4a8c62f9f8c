import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { directConnection, environmentConnection, inClusterConnection } from '#shared/kube/client/connection.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'plimsoll-connection-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

test('directConnection takes plain values', async () => {
  const { token, ...rest } = directConnection({ server: 'https://a:1', token: 't', ca: 'pem' });
  expect([rest, await token?.()]).toEqual([{ server: 'https://a:1', ca: 'pem' }, 't']);
});

describe('inClusterConnection', () => {
  test('reads what is mounted', async () => {
    write('ca.crt', 'pem');
    write('token', 'abc\n');
    write('namespace', 'plimsoll-system');
    const connection = inClusterConnection(
      { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' },
      directory,
    );
    expect(connection).toMatchObject({ server: 'https://[fd00::1]:6443', ca: 'pem', namespace: 'plimsoll-system' });
    expect(await connection.token?.()).toBe('abc');
  });

  test('says so outside a pod', () => {
    expect(() => inClusterConnection({}, directory)).toThrow('not in a cluster: KUBERNETES_SERVICE_HOST is not set');
  });
});

describe('environmentConnection', () => {
  test('reads what the sandbox hands to its children', async () => {
    const env = {
      PLIMSOLL_SERVER: 'https://127.0.0.1:1',
      PLIMSOLL_TOKEN_FILE: write('token', 'abc'),
      PLIMSOLL_CA_FILE: write('ca', 'pem'),
    };
    const connection = environmentConnection(env);
    expect(connection).toMatchObject({ server: 'https://127.0.0.1:1', ca: 'pem' });
    expect(await connection?.token?.()).toBe('abc');
  });

  test('is absent, or complete', () => {
    expect(environmentConnection({})).toBeUndefined();
    expect(() => environmentConnection({ PLIMSOLL_SERVER: 'https://x' })).toThrow('belong together');
  });
});

describe('kubeconfigConnection', () => {
  const kubeconfig = `
apiVersion: v1
kind: Config
clusters:
- {name: one, cluster: {server: 'https://one:6443', certificate-authority-data: ${btoa('pem')}, tls-server-name: api}}
- {name: two, cluster: {server: 'https://two:6443', insecure-skip-tls-verify: true}}
- {name: far, cluster: {server: 'https://far:6443', proxy-url: 'http://proxy:3128'}}
users:
- {name: cert, user: {client-certificate-data: ${btoa('cert')}, client-key-data: ${btoa('key')}}}
- {name: token, user: {token: secret}}
- {name: exec, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, args: ['-c', 'echo "{\\"status\\":{\\"token\\":\\"fresh\\"}}"']}}}
contexts:
- {name: default, context: {cluster: one, user: cert, namespace: team-a}}
- {name: other, context: {cluster: two, user: token}}
- {name: plugin, context: {cluster: one, user: exec}}
- {name: proxied, context: {cluster: far, user: token}}
current-context: default
`;

  test('takes certificates, server name and namespace of the current context', async () => {
    const { token, ...connection } = await kubeconfigConnection(write('config', kubeconfig));
    expect(connection).toEqual({
      server: 'https://one:6443',
      origin: { context: 'default', cluster: 'one' },
      ca: 'pem',
      clientCertificate: 'cert',
      clientKey: 'key',
      serverName: 'api',
      namespace: 'team-a',
    });
    expect(await token?.()).toBe('');
  });

  test('takes the token of another context, or of a plugin', async () => {
    const path = write('config', kubeconfig);
    const other = await kubeconfigConnection(path, 'other');
    expect([other.server, other.skipTlsVerify, await other.token?.()]).toEqual(['https://two:6443', true, 'secret']);
    expect(await (await kubeconfigConnection(path, 'plugin')).token?.()).toBe('fresh');
  });

  test.each<[string, string, string | undefined, string]>([
    [
      'a context that is not there',
      kubeconfig,
      'none',
      'no context "none" in kubeconfig "PATH": it has "default", "other", "plugin", "proxied"',
    ],
    ['a proxy', kubeconfig, 'proxied', 'cannot use kubeconfig "PATH": proxy-url "http://proxy:3128" is not supported'],
    ['text that is no YAML', 'a: [', undefined, 'cannot read kubeconfig "PATH": '],
    ['an empty file', '', undefined, 'kubeconfig "PATH"'],
  ])('one sentence about %s', async (_, text, context, message) => {
    const path = write('config', text);
    await expect(kubeconfigConnection(path, context)).rejects.toThrow(message.replace('PATH', path));
  });

  test('one sentence about a file that is not there', async () => {
    await expect(kubeconfigConnection(join(directory, 'none'))).rejects.toThrow(
      /^cannot read kubeconfig ".*none": ENOENT/,
    );
  });
});
