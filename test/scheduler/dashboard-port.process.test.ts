import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { View } from '#dashboard/views/view.ts';
import { schedulerSchema } from '#scheduler/configuration.ts';
import { startScheduler } from '#scheduler/scheduler.ts';
import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createShutdown } from '#shared/runtime/shutdown.ts';
import { startTestSandbox } from '#test/build/test-sandbox.ts';
import { seededJitter } from '#test/fakes/jitter.ts';
import { untilAnswer } from '#test/build/waiting.ts';

const log = createLog({ component: 'test', level: 'silent', format: 'json' });

describe('the dashboard of the scheduler process', () => {
  const shutdown = createShutdown({ log, clock, deadlineMs: 10_000, processSignals: new EventEmitter() });
  let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;

  async function start(dashboard: object) {
    const loopback = { host: '127.0.0.1', port: 0, healthHost: '127.0.0.1', healthPort: 0, drainSeconds: 0 };
    const configuration = schedulerSchema.parse({ ...loopback, dashboard });
    const env = sandbox.environmentFor('scheduler');
    return startScheduler(configuration, { clock, random: seededJitter(), log, env, shutdown });
  }

  function ask(port: number | undefined, headers: Record<string, string>): Promise<Response> {
    return fetch(`http://127.0.0.1:${port ?? 0}/api/view`, { headers });
  }

  async function viewAt(port: number | undefined): Promise<View> {
    const token = readFileSync(sandbox.environmentFor('agent')['PLIMSOLL_TOKEN_FILE'] ?? '', 'utf8');
    return (await (await ask(port, { authorization: `Bearer ${token}` })).json()) as View;
  }

  async function writeEvent(index: number): Promise<void> {
    const path = '/apis/events.k8s.io/v1/namespaces/default/events';
    const metadata = { name: `claimed-${index}`, namespace: 'default' };
    const said = { reason: 'Evicted', action: 'Evict', type: 'Warning', note: 'claimed' };
    const by = { reportingController: 'tenant', reportingInstance: 'tenant', eventTime: new Date().toISOString() };
    const regarding = { kind: 'Pod', namespace: 'default', name: `pod-${index}` };
    const body = { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata, ...said, ...by, regarding };
    expect(await sandbox.client.request({ method: 'POST', path, body })).toMatchObject({ kind: 'ok' });
  }

  beforeAll(async () => {
    sandbox = await startTestSandbox();
  });
  afterAll(async () => {
    await shutdown.stop('the tests are over');
    await sandbox.stop();
  });

  test('is off unless a port is named', async () => {
    expect((await start({})).dashboardPort).toBeUndefined();
  });

  test('shows the cluster to a token that the API server accepts, and nothing to any other caller', async () => {
    const { dashboardPort } = await start({ port: 0, host: '127.0.0.1' });
    const path = '/apis/plimsoll.dev/v1alpha1/nodepressures';
    const object = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name: 'node-1' } };
    const status = { observedAt: new Date().toISOString(), mode: 'DryRun', signals: [] };
    await sandbox.client.request({ method: 'POST', path, body: object });
    const patch = {
      method: 'PATCH',
      path: `${path}/node-1/status`,
      contentType: 'application/merge-patch+json',
    } as const;
    expect(await sandbox.client.request({ ...patch, body: { status } })).toMatchObject({ kind: 'ok' });
    for (const headers of [{}, { authorization: 'Bearer wrong' }, { 'x-remote-user': 'admin' }])
      expect((await ask(dashboardPort, headers)).status).toBe(401);
    const view = await untilAnswer(
      () => viewAt(dashboardPort),
      ({ nodes, classes }) => nodes.length > 0 && classes.length > 0,
    );
    expect(view.nodes.map(({ name, state }) => [name, state])).toEqual([
      ['node-1', 'Unknown'],
      ['sandbox', 'NoAgent'],
    ]);
    expect(view.classes.find(({ name }) => name === 'system-node-critical')?.description).toMatch(
      /^Used for system critical/,
    );
  });

  test('sends the name of the cluster to open pages', async () => {
    const { dashboardPort = 0 } = await start({ port: 0, host: '127.0.0.1', clusterName: 'prod-eu-1' });
    const token = readFileSync(sandbox.environmentFor('agent')['PLIMSOLL_TOKEN_FILE'] ?? '', 'utf8');
    const headers = { authorization: `Bearer ${token}` };
    const { body } = await fetch(`http://127.0.0.1:${dashboardPort}/api/live`, { headers });
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toMatch(/^data: \{"cluster":"prod-eu-1",/);
    await reader?.cancel();
  });

  test('keeps a hundred Events of one namespace, whose users may write them', async () => {
    for (let index = 0; index < 120; index += 1) await writeEvent(index);
    const { dashboardPort } = await start({ port: 0, host: '127.0.0.1' });
    await untilAnswer(
      () => viewAt(dashboardPort),
      ({ timeline }) => timeline.length > 0,
    );
    await writeEvent(120);
    const { timeline } = await untilAnswer(
      () => viewAt(dashboardPort),
      (view) => view.timeline.some(({ about }) => about === 'Pod default/pod-120'),
    );
    expect(timeline).toHaveLength(100);
  });

  test('tells of a pod that was removed days ago, from its record', async () => {
    const removedAt = new Date(Date.now() - 5 * 86_400_000).toISOString();
    const because = { code: 'Drained', text: 'node-1 was drained', facts: {} };
    const spec = { pod: 'web-1', podUID: 'u-1', priority: 0, node: 'node-1', removedAt, cause: 'Drain', because };
    const metadata = { name: 'web-1-u', namespace: 'default' };
    const body = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Disruption', metadata, spec };
    const path = '/apis/plimsoll.dev/v1alpha1/namespaces/default/disruptions';
    expect(await sandbox.client.request({ method: 'POST', path, body })).toMatchObject({ kind: 'ok' });
    const { dashboardPort } = await start({ port: 0, host: '127.0.0.1' });
    const { timeline } = await untilAnswer(
      () => viewAt(dashboardPort),
      (view) => view.timeline.some(({ kind }) => kind === 'drain'),
    );
    const entry = { about: 'Pod default/web-1', at: Date.parse(removedAt), why: because.text };
    expect(timeline).toContainEqual(expect.objectContaining(entry));
  });

  test('says what a node would do, from its pods as they are now, and what it would not', async () => {
    const create = async (path: string, body: object): Promise<void> =>
      expect(await sandbox.client.request({ method: 'POST', path, body })).toMatchObject({ kind: 'ok' });
    const labels = { pool: 'batch' };
    const status = { allocatable: { cpu: '1', memory: '2Gi', pods: '110' }, capacity: { memory: '2Gi' } };
    await create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'full', labels }, status });
    for (const [name, nodeName] of [
      ['big', 'full'],
      ['done', 'full'],
      ['elsewhere', 'other'],
    ]) {
      const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '800m' } } }];
      const pod = { metadata: { name }, spec: { nodeName, containers } };
      await create('/api/v1/namespaces/default/pods', { apiVersion: 'v1', kind: 'Pod', ...pod });
    }
    await sandbox.client.request({
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { status: { phase: 'Succeeded' } },
      path: '/api/v1/namespaces/default/pods/done/status',
    });
    const evictionHard = { 'memory.available': '300Mi' };
    const policy = { nodeSelector: { matchLabels: labels }, mode: 'Enforce', evictionHard, missingStats: 'Last' };
    await create('/apis/plimsoll.dev/v1alpha1/nodepressurepolicies', {
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'NodePressurePolicy',
      metadata: { name: 'batch' },
      spec: policy,
    });
    const { dashboardPort } = await start({ port: 0, host: '127.0.0.1' });
    const token = readFileSync(sandbox.environmentFor('agent')['PLIMSOLL_TOKEN_FILE'] ?? '', 'utf8');
    const asked = (question: string) => async (): Promise<object> => {
      const address = `http://127.0.0.1:${dashboardPort ?? 0}/api/what-if/${question}`;
      const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
      return (await response.json()) as object;
    };
    const isAnswered = (answer: object) => !('code' in answer && answer.code === 503);
    const pressure = await untilAnswer(asked('pressure?node=full&available=400Mi&threshold=25%25'), isAnswered);
    expect(pressure).toMatchObject({ policy: 'batch', stage: 'severe', victims: ['default/big'] });
    expect(await asked('pressure?node=full&available=400Mi')()).toMatchObject({ stage: 'none', victims: [] });
    const priority = { priorityClass: 'system-cluster-critical', cpu: '500m' };
    expect(await asked(`pod?node=full&${new URLSearchParams(priority).toString()}`)()).toMatchObject({
      outcome: 'preempts',
      victims: [{ pod: 'default/big' }],
    });
    expect(await asked('pod?node=full&cpu=500m')()).toMatchObject({ outcome: 'notPlaceable' });
    expect(await asked('pod?node=missing')()).toMatchObject({ code: 404, message: 'node: "missing" not found' });
  });

  test('closes the oldest connection without a request for one above the most that it holds open', async () => {
    const { dashboardPort = 0 } = await start({ port: 0, host: '127.0.0.1' });
    const open = () =>
      connect(dashboardPort, '127.0.0.1')
        .on('error', () => undefined)
        .resume();
    const held = Array.from({ length: 256 }, open);
    await Promise.all(held.map((socket) => once(socket, 'connect')));
    const oneMore = open();
    await once(held[0] as Socket, 'close');
    expect([...held.slice(1), oneMore].filter(({ closed }) => closed)).toEqual([]);
    for (const socket of [...held, oneMore]) socket.destroy();
  });

  test('serves a renewed certificate without a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
    const tls = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
    const authority = createAuthority({ commonName: 'test', days: 1, now: clock.now() });
    const issue = (commonName: string): void => {
      const names = { commonName, dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
      const { certPem, keyPem } = issueServerCertificate(authority, { ...names, days: 1, now: clock.now() });
      writeFileSync(tls.certFile, certPem);
      writeFileSync(tls.keyFile, keyPem);
    };
    issue('first');
    const { dashboardPort = 0 } = await start({ port: 0, host: '127.0.0.1', tls });
    const served = async (): Promise<string> => {
      const socket = connectTls({ port: dashboardPort, host: '127.0.0.1', ca: authority.certPem });
      await once(socket, 'secureConnect');
      const { subject } = socket.getPeerCertificate();
      socket.destroy();
      return String(subject.CN);
    };
    expect(await served()).toBe('first');
    issue('renewed');
    await untilAnswer(served, (name) => name === 'renewed');
    rmSync(folder, { recursive: true });
  });

  test('front proxies need a certificate of the dashboard', () => {
    const parsed = schedulerSchema.safeParse({ dashboard: { port: 0, tls: { frontProxyCaFile: 'ca.crt' } } });
    expect(parsed.error?.issues[0]?.message).toBe('frontProxyCaFile needs certFile and keyFile');
  });
});
