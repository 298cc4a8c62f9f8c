import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect, createClient } from '#shared/kube/client/client.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-kubeconfig-'));
  mkdirSync(join(folder, 'second'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text, { mode: 0o755 });
  return join(folder, name);
}

const FIRST = `apiVersion: v1
kind: Config
current-context: one
clusters: [{name: k1, cluster: {server: "https://127.0.0.1:6443", insecure-skip-tls-verify: true}}]
users: [{name: u1, user: {tokenFile: token}}]
contexts: [{name: one, context: {cluster: k1, user: u1, namespace: team-a}}]
`;
const SECOND = `apiVersion: v1
kind: Config
current-context: two
clusters: [{name: k1, cluster: {server: "https://127.0.0.1:7443"}}]
users: [{name: u2, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./credential.sh, interactiveMode: Never}}}]
contexts: [{name: two, context: {cluster: k1, user: u2}}]
`;
const CREDENTIAL = `#!/bin/sh
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"from-plugin"}}'
`;

describe('KUBECONFIG=first:second:missing:empty', () => {
  const environment = () => {
    write('token', 'secret-token\n');
    write('second/credential.sh', CREDENTIAL);
    const paths = [write('first', FIRST), write('second/config', SECOND), join(folder, 'missing'), write('empty', '')];
    return { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: ['', ...paths].join(':') };
  };

  test('the first file of a name counts, and a token file is relative to its kubeconfig', async () => {
    const { token, ...connection } = await kubeconfigConnection(undefined, undefined, {}, environment());
    expect(connection).toEqual({
      server: 'https://127.0.0.1:6443',
      origin: { context: 'one', cluster: 'k1' },
      skipTlsVerify: true,
      namespace: 'team-a',
    });
    expect(await token?.()).toBe('secret-token');
  });

  test('so is the command of a plugin', async () => {
    const connection = await kubeconfigConnection(undefined, 'two', {}, environment());
    expect([connection.server, await connection.token?.()]).toEqual(['https://127.0.0.1:6443', 'from-plugin']);
  });
});

describe('kubeconfigConnection', () => {
  const written = (user: string, cluster = 'server: "https://a:1"') =>
    write(
      'config',
      `current-context: c\nclusters: [{name: k, cluster: {${cluster}}}]\nusers: [{name: u, user: {${user}}}]\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n`,
    );

  test('the --kubeconfig of a process may name a token file', async () => {
    write('token', 'secret-token');
    const connection = await connect(written('tokenFile: token'), {});
    expect(await connection.token?.()).toBe('secret-token');
  });

  test.each<[string, string | undefined, string | undefined]>([
    ['token: t, tokenFile: token', 'from-file', undefined],
    ['token: t, tokenFile: missing', 't', undefined],
    ['username: u, password: p', '', 'u:p'],
    ['username: u, exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./none}', '', 'u:'],
    ['token: t, exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./none}', 't', undefined],
  ])('%s', async (user, token, basicAuth) => {
    write('token', 'from-file');
    const connection = await kubeconfigConnection(written(user));
    expect([await connection.token?.(), connection.basicAuth]).toEqual([token, basicAuth]);
  });

  test.each([
    ['tokenFile: missing', 'cannot read tokenFile'],
    ['tokenFile: empty', 'the file is empty'],
    ['token: t, username: u', 'token and username exclude each other'],
    ['token: 5', 'users[0].user.token: expected a text, got 5'],
    ['as-groups: [a]', 'need a user to act as'],
    ['client-certificate: token', 'a client certificate needs client-key'],
    ['client-certificate: missing, client-key: token', 'cannot read'],
    ['auth-provider: {name: gcp}', 'no auth-provider "gcp"'],
    ['exec: {command: ./x, apiVersion: client.authentication.k8s.io/v1}', 'interactiveMode'],
    ['exec: {command: ./x, apiVersion: client.authentication.k8s.io/v1alpha1, interactiveMode: Never}', 'apiVersion'],
    [
      'exec: {command: ./x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, installHint: get x}',
      'get x',
    ],
    [
      'exec: {command: ./fails, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}',
      'cannot run exec plugin',
    ],
  ])('%s is refused', async (user, message) => {
    write('token', 'x');
    write('empty', '');
    write('fails', '#!/bin/sh\necho no >&2; exit 3\n');
    await expect(kubeconfigConnection(written(user))).rejects.toThrow(message);
  });

  test.each([
    ['server: "https://a", insecure-skip-tls-verify: true, certificate-authority-data: eA==', 'exclude each other'],
    ['server: "https://a", certificate-authority: missing', 'cannot read'],
    ['server: ""', 'names no server'],
    ['server: [1]', 'clusters[0].cluster.server: expected a text'],
  ])('cluster {%s} is refused', async (cluster, message) => {
    await expect(kubeconfigConnection(written('token: t', cluster))).rejects.toThrow(message);
  });

  test('a name that stands twice in one file is refused', async () => {
    const path = write('config', 'users: [{name: u, user: {}}, {name: u, user: {}}]\n');
    await expect(kubeconfigConnection(path)).rejects.toThrow('users: name "u" stands twice');
  });

  test('a plugin gets the environment and the cluster, and runs again after a rejection', async () => {
    write(
      'plugin',
      `#!/bin/sh
echo x >> "$COUNT"
echo "$KUBERNETES_EXEC_INFO" > "$COUNT.info"
echo '{"apiVersion":"client.authentication.k8s.io/v1","status":{"token":"'$(wc -l < "$COUNT" | tr -d ' ')'"}}'
`,
    );
    chmodSync(join(folder, 'plugin'), 0o755);
    const exec = `exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never, provideClusterInfo: true, env: [{name: COUNT, value: ${folder}/count}]}`;
    const { token, onUnauthorized } = await kubeconfigConnection(written(exec));
    expect([await token?.(), await token?.()]).toEqual(['1', '1']);
    onUnauthorized?.();
    expect(await token?.()).toBe('2');
  });
});

describe('a plain http server', () => {
  const heard: IncomingHttpHeaders[] = [];
  const server = createServer((request, answer) => {
    heard.push(request.headers);
    answer.end('{}');
  });

  test('gets the impersonated user, and no credentials', async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const path = write(
      'config',
      `current-context: one
clusters: [{name: k1, cluster: {server: "127.0.0.1:${(server.address() as AddressInfo).port}"}}]
users: [{name: u1, user: {token: secret, as: jane, as-uid: u-17, as-groups: [team-a, developers], as-user-extra: {reason: [audit], "a/b": [x, z]}}}]
contexts: [{name: one, context: {cluster: k1, user: u1}}]
`,
    );
    const client = createClient(await kubeconfigConnection(path), { userAgent: 'test' });
    expect(await client.request({ path: '/x' })).toMatchObject({ kind: 'ok' });
    client.close();
    server.close();
    expect(heard).toEqual([
      expect.objectContaining({
        'impersonate-user': 'jane',
        'impersonate-uid': 'u-17',
        'impersonate-group': 'team-a, developers',
        'impersonate-extra-reason': 'audit',
        'impersonate-extra-a%2fb': 'x, z',
      }),
    ]);
    expect(heard[0]).not.toHaveProperty('authorization');
  });

  test('on another machine is accepted, because the kubeconfig says so', async () => {
    const path = write(
      'config',
      'current-context: c\nclusters: [{name: k, cluster: {server: "http://192.0.2.1:1"}}]\ncontexts: [{name: c, context: {cluster: k}}]\n',
    );
    const connection = await kubeconfigConnection(path);
    expect(() => createClient(connection, { userAgent: 'test' })).not.toThrow();
    expect(() => createClient({ server: 'http://192.0.2.1:1' }, { userAgent: 'test' })).toThrow('expected https');
  });
});
