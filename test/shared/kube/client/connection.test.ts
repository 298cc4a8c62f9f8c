import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import { createClient } from '#shared/kube/client/client.ts';
import { directConnection, environmentConnection, inClusterConnection } from '#shared/kube/client/connection.ts';
import { kubeconfigConnection, proxyOf } from '#shared/kube/client/kubeconfig-connection.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'plimsoll-connection-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

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
    expect(() => environmentConnection({ PLIMSOLL_SERVER: 'https://x' })).toThrow(
      'set PLIMSOLL_SERVER, PLIMSOLL_TOKEN_FILE and PLIMSOLL_CA_FILE together',
    );
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
- {name: exec, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: none}}}
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

  test('takes the token of another context', async () => {
    const path = write('config', kubeconfig);
    const other = await kubeconfigConnection(path, 'other');
    expect([other.server, other.skipTlsVerify, await other.token?.()]).toEqual(['https://two:6443', true, 'secret']);
  });

  test.each<[string, string, string | undefined, string]>([
    [
      'a context that is not there',
      kubeconfig,
      'none',
      'no context "none" in kubeconfig "PATH": it has "default", "other", "plugin", "proxied"',
    ],
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

  test('one sentence where there is no kubeconfig at all', async () => {
    vi.stubEnv('KUBECONFIG', '');
    vi.stubEnv('HOME', directory);
    await expect(kubeconfigConnection()).rejects.toThrow(
      'no kubeconfig: neither $KUBECONFIG nor ~/.kube/config names a cluster; name a file with --kubeconfig',
    );
  });
});

describe('a proxy', () => {
  test.each([
    ['https://api.example:6443', {}, undefined],
    ['https://api.example:6443', { HTTPS_PROXY: 'http://proxy:3128' }, 'http://proxy:3128'],
    ['https://api.example:6443', { https_proxy: 'proxy:3128' }, 'http://proxy:3128'],
    ['http://api.example', { HTTPS_PROXY: 'http://proxy:3128' }, undefined],
    ['https://localhost:6443', { HTTPS_PROXY: 'http://proxy:3128' }, undefined],
    ['https://127.0.0.9:6443', { HTTPS_PROXY: 'http://proxy:3128' }, undefined],
    ['https://[::1]:6443', { HTTPS_PROXY: 'http://proxy:3128' }, undefined],
    ['https://api.example:6443', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: '*' }, undefined],
    ['https://api.example:6443', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'other, example' }, undefined],
    ['https://api.example:6443', { HTTPS_PROXY: 'http://proxy:3128', no_proxy: '.example' }, undefined],
    ['https://api.example:6443', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'ample' }, 'http://proxy:3128'],
    ['https://api.example', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'api.example:443' }, undefined],
    ['https://api.example', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'api.example:80' }, 'http://proxy:3128'],
    ['https://10.1.2.3', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: '10.0.0.0/8' }, undefined],
    ['https://11.1.2.3', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: '10.0.0.0/8' }, 'http://proxy:3128'],
    ['https://[fd00::1]', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'fd00::/8' }, undefined],
    ['https://10.1.2.3', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: '10.0.0.0/99' }, 'http://proxy:3128'],
    ['https://[fd00::1]', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'fd00::1' }, undefined],
    ['https://[fd00::1]', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'FD00:0::0001' }, undefined],
    ['https://[fd00::1]', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'fd00::2' }, 'http://proxy:3128'],
    ['https://[fd00::1]:6443', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: '[fd00::1]:6443' }, undefined],
    ['https://[fd00::1]:6443', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: '[fd00::1]:443' }, 'http://proxy:3128'],
    ['https://api.example', { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: '*.example' }, undefined],
    ['https://127.example', { HTTPS_PROXY: 'http://proxy:3128' }, 'http://proxy:3128'],
  ])('of the environment, %s with %j: %s', (server, env, proxy) => {
    expect(proxyOf(server, env)).toBe(proxy);
  });

  test('that the kubeconfig names carries requests and watches, and the certificate is still checked', async () => {
    const authority = createAuthority({ commonName: 'test', days: 1, now: Date.now() });
    const names = { commonName: 'api', dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
    const { certPem, keyPem } = issueServerCertificate(authority, { ...names, days: 1, now: Date.now() });
    const api = createServer({ cert: certPem, key: keyPem }, (_, answer) => void answer.end('{"kind":"Answer"}'));
    const proxy = connectProxy();
    const [apiPort, proxyPort] = await Promise.all([listen(api), listen(proxy.server)]);
    const connectionWith = (ca: string) =>
      kubeconfigConnection(
        write('config', proxied(`https://127.0.0.1:${apiPort}`, `http://127.0.0.1:${proxyPort}`, ca)),
      );
    const ask = async (ca: string) => {
      const client = createClient(await connectionWith(ca), { userAgent: 'test' });
      const outcome = await client.request({ path: '/x' });
      client.close();
      return outcome;
    };
    expect(await ask(authority.certPem)).toMatchObject({ kind: 'ok', object: { kind: 'Answer' } });
    expect(proxy.targets).toEqual([`127.0.0.1:${apiPort}`]);
    const stranger = createAuthority({ commonName: 'stranger', days: 1, now: Date.now() });
    expect(await ask(stranger.certPem)).toMatchObject({ kind: 'unreachable' });
    api.close();
    proxy.server.close();
  });

  test('that is no URL is refused', async () => {
    const path = write('config', proxied('https://api:6443', 'not a url', 'pem'));
    await expect(kubeconfigConnection(path)).rejects.toThrow('cannot use proxy "not a url"');
  });
});

function proxied(server: string, proxy: string, ca: string): string {
  return `
apiVersion: v1
kind: Config
clusters: [{name: far, cluster: {server: '${server}', proxy-url: '${proxy}', certificate-authority-data: ${btoa(ca)}}}]
users: [{name: token, user: {token: secret}}]
contexts: [{name: proxied, context: {cluster: far, user: token}}]
current-context: proxied
`;
}

/** An HTTP proxy that only knows CONNECT. */
function connectProxy() {
  const targets: string[] = [];
  const server = createHttpServer().on('connect', ({ url = '' }: IncomingMessage, socket: Socket) => {
    targets.push(url);
    const [host, port] = url.split(':');
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    socket.on('error', () => undefined).on('close', () => upstream.destroy());
    upstream.on('error', () => undefined).on('close', () => socket.destroy());
  });
  return { server, targets };
}

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}
