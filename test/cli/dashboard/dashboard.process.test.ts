import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { createServer, type Server as HttpsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import { buildKubeconfig } from '#test/build/kubeconfig.ts';
import { untilAnswer } from '#test/build/waiting.ts';
import { folderWith, runPlimsoll } from '#test/cli/run-plimsoll.ts';

const PODS_PATH = '/api/v1/namespaces/plimsoll-system/pods';
const POD = {
  metadata: { name: 'plimsoll-dashboard-1', namespace: 'plimsoll-system' },
  spec: { containers: [{ name: 'dashboard', ports: [{ name: 'dashboard', containerPort: 8081 }] }] },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
};

/** An API server with one pod, whose port is that of another server on this machine. */
function startApi(pods: () => readonly object[], podPort: () => number): HttpsServer {
  const authority = createAuthority({ commonName: 'test', days: 1, now: Date.now() });
  const names = { commonName: 'api', dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'], days: 1, now: Date.now() };
  const { certPem, keyPem } = issueServerCertificate(authority, names);
  const api = createServer({ cert: certPem, key: keyPem }, (request, answer) => {
    answer.setHeader('content-type', 'application/json');
    if (request.method === 'POST') answer.end(JSON.stringify({ metadata: {}, status: { token: 'made/token' } }));
    else answer.end(JSON.stringify({ kind: 'PodList', metadata: {}, items: pods() }));
  });
  const sockets = new WebSocketServer({ noServer: true });
  api.on('upgrade', (request: IncomingMessage, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (tunnel) => {
      asked.push(`${request.headers.authorization ?? ''} ${request.url ?? ''}`);
      const target = connect(podPort(), '127.0.0.1');
      for (const channel of [0, 1]) tunnel.send(Buffer.from([channel, 0x91, 0x1f]));
      target.on('data', (bytes: Buffer) => tunnel.send(Buffer.concat([Buffer.from([0]), bytes])));
      target.on('close', () => tunnel.close());
      tunnel.on('message', (bytes: Buffer) => target.write(bytes.subarray(1)));
      tunnel.on('close', () => target.destroy());
    });
  });
  ca = authority.certPem;
  return api;
}

const asked: string[] = [];
let ca = '';
let items: readonly object[] = [POD];
let api: HttpsServer;
let page: Server;

const portOf = (server: Server | HttpsServer) => (server.address() as AddressInfo).port;
const kubeconfig = (token?: string) => {
  const cluster = { server: `https://127.0.0.1:${portOf(api)}`, ca };
  return `${folderWith({ config: buildKubeconfig(cluster, token === undefined ? {} : { token }) })}/config`;
};

beforeAll(async () => {
  page = createHttpServer((request, answer) => {
    // The end of the connection is the end of the page.
    answer.useChunkedEncodingByDefault = false;
    answer.write('page of ');
    answer.end(request.url);
  }).listen(0, '127.0.0.1');
  await once(page, 'listening');
  api = startApi(
    () => items,
    () => portOf(page),
  ).listen(0, '127.0.0.1');
  await once(api, 'listening');
});
afterAll(() => {
  api.closeAllConnections();
  api.close();
  page.close();
});

/** Runs the command until it has printed an address, and hands it over. */
async function withDashboard(args: readonly string[], use: (address: URL) => Promise<void>): Promise<void> {
  const child = spawn(process.execPath, [inject('plimsoll'), 'dashboard', '--port=0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  child.stdout.on('data', (bytes: Buffer) => (printed += bytes.toString('utf8')));
  const closed = once(child, 'close');
  try {
    await use(
      new URL(
        await untilAnswer(
          () => printed.trim(),
          (text) => text.startsWith('http'),
        ),
      ),
    );
  } finally {
    child.kill();
    await closed;
  }
}

describe('plimsoll dashboard', () => {
  test('forwards each connection to the ready pod, and puts the own token behind the address', async () => {
    await withDashboard(['--kubeconfig', kubeconfig('own')], async (address) => {
      expect(address.hash).toBe('#token=own');
      for (const path of ['/a', '/b']) {
        const answer = await fetch(new URL(path, address), { headers: { connection: 'close' } });
        expect(await answer.text()).toBe(`page of ${path}`);
      }
    });
    const path = `${PODS_PATH}/plimsoll-dashboard-1/portforward?ports=8081`;
    expect(asked).toEqual([`Bearer own ${path}`, `Bearer own ${path}`]);
  });

  test('creates a token for a service account that is named', async () => {
    await withDashboard(['--kubeconfig', kubeconfig('own'), '--service-account=team-a/viewer'], (address) => {
      expect(address.hash).toBe('#token=made%2Ftoken');
      return Promise.resolve();
    });
  });

  test.each([
    [
      'a token',
      undefined,
      [POD],
      /^error: your kubeconfig has no token that the dashboard could take: name an account /,
    ],
    [
      'a pod that is ready',
      'own',
      [{ ...POD, status: {} }],
      /^error: no ready pod of the controller with the dashboard in namespace /,
    ],
  ])('says that %s is missing', async (_, token, pods, message) => {
    items = pods;
    const { code, stderr } = await runPlimsoll(['dashboard', '--port=0', '--kubeconfig', kubeconfig(token)]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });
});
