import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CertificatePair,
  createAuthority,
  issueClientCertificate,
  issueServerCertificate,
} from '#shared/http/certificates.ts';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { buildKubeconfig } from '#test/build/kubeconfig.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { at } from '#test/contract/harness.ts';
import { runningApiServer } from '#test/sandbox/api-server/running-api-server.ts';
import { type SchedulerProcess, startSchedulerProcess } from './scheduler-process.ts';
import { eventually } from '#test/build/waiting.ts';

const MAIN = fileURLToPath(new URL('../../scheduler/main.ts', import.meta.url));
const TIMEOUT_MS = 60_000;

describe('node scheduler/main.ts', { timeout: TIMEOUT_MS }, () => {
  test('bad configuration names every mistake at once and exits with 2', () => {
    const { status, stderr } = spawnSync(process.execPath, [
      MAIN,
      '--port=70000',
      '--budget=Hard',
      '--tls-cert-file=x',
    ]);
    expect(status).toBe(2);
    expect(String(stderr)).toContain('port');
    expect(String(stderr)).toContain('--budget: unknown flag, did you mean --budgets?');
    expect(String(stderr)).not.toContain('    at ');
  });
});

describe('the scheduler process on an API server', { timeout: TIMEOUT_MS }, () => {
  const server = runningApiServer();
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
  const authority = createAuthority({ commonName: 'test', days: 1, now: Date.now() });
  let port = 0;
  let client: KubeClient;
  let scheduler: SchedulerProcess | undefined;

  beforeAll(async () => {
    const { url, token, caPem: ca } = server();
    client = createClient(directConnection({ server: url, token, ca }), { userAgent: 'test' });
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, buildKubeconfig({ server: url, ca }, { token }));
    [port = 0] = await freePorts(1);
    const names = { dnsNames: [], ipAddresses: ['127.0.0.1'], commonName: 'plimsoll-scheduler' };
    const own = issueServerCertificate(authority, { ...names, days: 1, now: Date.now() });
    const files = { 'cert-file': own.certPem, 'key-file': own.keyPem, 'client-ca-file': authority.certPem };
    const flags = Object.entries(files).map(([flag, pem]) => `--tls-${flag}=${write(flag, pem)}`);
    scheduler = await startSchedulerProcess(kubeconfig, port, flags);
  }, TIMEOUT_MS);
  afterAll(async () => {
    client.close();
    await scheduler?.stop();
    rmSync(folder, { recursive: true });
  });

  function write(name: string, pem: string): string {
    writeFileSync(join(folder, name), pem, { mode: 0o600 });
    return join(folder, name);
  }

  /** Asks as kube-scheduler does; rejects where the connection is refused. */
  function ask(body: object, certificate: Partial<CertificatePair>, caPem = authority.certPem): Promise<unknown> {
    const { certPem: cert, keyPem: key } = certificate;
    const tls = { ca: caPem, ...(cert !== undefined && { cert, key }), agent: false as const };
    const headers = { 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path: '/preempt', method: 'POST', headers, ...tls }, (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
        answer.on('end', () => resolve(JSON.parse(text)));
        answer.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(JSON.stringify(body));
    });
  }

  async function create(path: string, body: object): Promise<unknown> {
    const outcome = await client.request({ method: 'POST', path, body });
    expect(outcome).toMatchObject({ kind: 'ok' });
    return outcome;
  }

  test('it reviews what kube-scheduler proposes by what it has read, over TLS, for certified callers only', async () => {
    const annotations = { 'plimsoll.dev/allow-preemption': 'false' };
    const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
    await create(classes, { metadata: { name: 'stays', annotations }, value: 5 });
    await create(classes, { metadata: { name: 'goes' }, value: 5 });
    const allocatable = { cpu: '1', memory: '1Gi', pods: '10' };
    await create('/api/v1/nodes', { metadata: { name: 'n0' }, status: { allocatable, capacity: allocatable } });
    const uids = await Promise.all(['stays', 'goes'].map(createPod));
    const Pod = { metadata: { name: 'incoming', namespace: 'default', uid: 'u' }, spec: podSpec({ priority: 100 }) };
    const proposalOf = (uid: string) => ({ n0: { Pods: [{ UID: uid }], NumPDBViolations: 0 } });
    const [stays = '', goes = ''] = uids;
    const certificate = issueClientCertificate(authority, { commonName: 'kube-scheduler', days: 1, now: Date.now() });
    const answer = { NodeNameToMetaVictims: proposalOf(goes) };
    // Until its watches have told it of both pods, the process takes the node away.
    await eventually(async () => {
      const answers = await Promise.all(
        [stays, goes].map((uid) => ask({ Pod, NodeNameToMetaVictims: proposalOf(uid) }, certificate)),
      );
      expect(answers).toEqual([answer, answer]);
    }, 10_000);
    await expect(ask({ Pod, NodeNameToMetaVictims: proposalOf(goes) }, {})).rejects.toThrow();
    const metrics = await scheduler?.metrics();
    expect(metrics).toMatch(/plimsoll_extender_nodes_total\{verdict="changed"\} [1-9]/);
    expect(metrics).toMatch(/plimsoll_extender_nodes_total\{verdict="kept"\} [1-9]/);
  });

  test('it serves with a renewed certificate without a restart, and trusts a replaced client authority', async () => {
    const renewed = createAuthority({ commonName: 'renewed', days: 1, now: Date.now() });
    const names = { dnsNames: [], ipAddresses: ['127.0.0.1'], commonName: 'plimsoll-scheduler' };
    const own = issueServerCertificate(renewed, { ...names, days: 1, now: Date.now() });
    const files = { 'cert-file': own.certPem, 'key-file': own.keyPem, 'client-ca-file': renewed.certPem };
    for (const [file, pem] of Object.entries(files)) write(file, pem);
    const caller = { commonName: 'kube-scheduler', days: 1, now: Date.now() };
    const certificate = issueClientCertificate(renewed, caller);
    await eventually(async () => {
      expect(await ask({ Pod: {} }, certificate, renewed.certPem)).toEqual({ NodeNameToMetaVictims: {} });
    }, TIMEOUT_MS);
    await expect(ask({ Pod: {} }, issueClientCertificate(authority, caller), renewed.certPem)).rejects.toThrow();
  });

  async function createPod(priorityClassName: string): Promise<string> {
    const spec = podSpec({ priorityClassName, nodeName: 'n0' });
    const made = await create('/api/v1/namespaces/default/pods', { metadata: { name: priorityClassName }, spec });
    return String(at(made, 'object.metadata.uid'));
  }

  function podSpec(more: object): object {
    const resources = { requests: { cpu: '500m' } };
    return { containers: [{ name: 'main', image: 'registry.test/idle:1', resources }], ...more };
  }
});
