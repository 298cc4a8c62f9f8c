import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { statsSummary } from '#sandbox/node/stats-summary.ts';
import { createClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { createObject, getObject } from '#shared/kube/client/objects.ts';
import { NODES, PODS, resourcePath } from '#shared/kube/resource.ts';
import { startTestSandbox } from '#test/build/test-sandbox.ts';
import { untilAnswer } from '#test/build/waiting.ts';

const namespace = 'default';
const MEBIBYTE = 1024 * 1024;
let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;

beforeAll(async () => {
  sandbox = await startTestSandbox();
});

afterAll(() => sandbox.stop());

interface Status {
  readonly phase?: string;
  readonly initContainerStatuses?: readonly object[];
  readonly containerStatuses?: readonly {
    readonly restartCount: number;
    readonly state: Readonly<Record<string, { readonly reason?: string; readonly exitCode?: number } | undefined>>;
    readonly lastState: { readonly terminated?: { readonly reason: string; readonly exitCode: number } };
  }[];
}

async function createPod(name: string, image: string, args: readonly string[], spec: object = {}, limits: object = {}) {
  const container = { name: 'main', image, args, resources: { limits } };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [container], ...spec } };
  const created = await createObject(sandbox.client, { resource: PODS, namespace }, pod);
  if (created.kind !== 'ok') throw new Error(created.message);
}

async function statusOf(name: string): Promise<Status | undefined> {
  const pod = await getObject(sandbox.client, { resource: PODS, namespace, name });
  return pod.kind === 'ok' ? (pod.object['status'] ?? {}) : undefined;
}

async function until(name: string, isWanted: (status: Status) => boolean): Promise<Status> {
  const status = await untilAnswer(
    () => statusOf(name),
    (answer) => answer !== undefined && isWanted(answer),
  );
  return status ?? {};
}

async function untilGone(name: string): Promise<void> {
  await untilAnswer(
    () => statusOf(name),
    (answer) => answer === undefined,
  );
}

async function remove(name: string, gracePeriodSeconds: number): Promise<void> {
  const path = resourcePath(PODS, { namespace, name });
  await sandbox.client.request({
    method: 'DELETE',
    path,
    body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds },
  });
}

async function summaryOfPod(name: string): Promise<{ readonly workingSetBytes: number } | undefined> {
  const environment = sandbox.environmentFor('agent');
  const [token, ca] = ['PLIMSOLL_TOKEN_FILE', 'PLIMSOLL_CA_FILE'].map((key) =>
    readFileSync(environment[key] ?? '', 'utf8'),
  );
  const connection = directConnection({ server: sandbox.node.url, token: token ?? '', ca: ca ?? '' });
  const client = createClient(connection, { userAgent: 'test' });
  const answer = await client.request({ path: '/stats/summary' });
  client.close();
  if (answer.kind !== 'ok') throw new Error(answer.message);
  const { pods } = answer.object as ReturnType<typeof statsSummary>;
  return pods.find(({ podRef }) => podRef.name === name)?.memory;
}

/** Follows the log until the container ends, or until it has said this. */
async function followLog(name: string, end?: string): Promise<string> {
  const path = resourcePath(PODS, { namespace, name, subresource: 'log' });
  const opened = await sandbox.client.stream({ path, query: { follow: true } });
  if (opened.kind !== 'ok') throw new Error(opened.message);
  let text = '';
  for await (const piece of opened.object) {
    text += piece.toString();
    if (end !== undefined && text.includes(end)) break;
  }
  opened.object.close();
  return text;
}

const isRunning = ({ phase, containerStatuses }: Status): boolean =>
  phase === 'Running' && containerStatuses?.[0]?.state['running'] !== undefined;

describe('a pod on the node', () => {
  test('runs as a real process whose memory is what the summary says', async () => {
    await createPod('service', 'demo/service', ['--memory=40Mi']);
    await until('service', isRunning);
    const held = 40 * MEBIBYTE;
    const memory = await untilAnswer(
      () => summaryOfPod('service'),
      (present) => (present?.workingSetBytes ?? 0) > held,
    );
    expect(memory?.workingSetBytes).toBeLessThan(2 * held);
    expect(sandbox.node.availableBytes()).toBeLessThan(1024 * MEBIBYTE - held);
  });

  test('ends on SIGTERM when it is deleted, and its object goes', async () => {
    await createPod('leaver', 'demo/service', []);
    await until('leaver', isRunning);
    await remove('leaver', 30);
    await untilGone('leaver');
  });

  test('is killed after its grace when it ignores SIGTERM', async () => {
    await createPod('stubborn', 'demo/service', ['--ignore-sigterm']);
    await until('stubborn', isRunning);
    await followLog('stubborn', 'Started');
    const log = followLog('stubborn');
    await remove('stubborn', 1);
    expect(await log).toBe('Started demo/service\nIgnoring SIGTERM\n');
    await untilGone('stubborn');
  });

  test('succeeds or fails with its exit code', async () => {
    await createPod('good', 'demo/batch', ['--seconds=0'], { restartPolicy: 'Never' });
    await createPod('bad', 'demo/batch', ['--seconds=0', '--exit-code=3'], { restartPolicy: 'Never' });
    const good = await until('good', ({ phase }) => phase === 'Succeeded');
    const bad = await until('bad', ({ phase }) => phase === 'Failed');
    expect(good.containerStatuses?.[0]?.state['terminated']).toMatchObject({ exitCode: 0, reason: 'Completed' });
    expect(bad.containerStatuses?.[0]?.state['terminated']).toMatchObject({ exitCode: 3, reason: 'Error' });
  });

  test('is killed when it passes its memory limit, and started again', async () => {
    await createPod('glutton', 'demo/hog', ['--grow=200Mi'], {}, { memory: '64Mi' });
    const status = await until('glutton', ({ containerStatuses }) => (containerStatuses?.[0]?.restartCount ?? 0) > 0);
    expect(status.containerStatuses?.[0]?.lastState.terminated).toMatchObject({ reason: 'OOMKilled', exitCode: 137 });
    await remove('glutton', 0);
    await untilGone('glutton');
  });

  test('waits with the reason when its image does not exist', async () => {
    await createPod('stranger', 'nginx', []);
    const status = await until(
      'stranger',
      ({ containerStatuses }) => containerStatuses?.[0]?.state['waiting']?.reason === 'ImagePullBackOff',
    );
    expect(status.phase).toBe('Pending');
  });

  test('runs its init containers first, one after the other', async () => {
    const init = ['first', 'second'].map((name) => ({ name, image: 'demo/batch', args: ['--seconds=0'] }));
    await createPod('prepared', 'demo/service', [], { initContainers: init });
    const status = await until('prepared', isRunning);
    expect(status.initContainerStatuses).toMatchObject([
      { name: 'first', state: { terminated: { exitCode: 0 } } },
      { name: 'second', state: { terminated: { exitCode: 0 } } },
    ]);
  });

  test('shows its log', async () => {
    await createPod('talker', 'demo/service', []);
    await until('talker', isRunning);
    expect(await followLog('talker', '\n')).toBe('Started demo/service\n');
  });
});

test('the node reports itself as a kubelet does', async () => {
  const node = await getObject(sandbox.client, { resource: NODES, name: sandbox.nodeName });
  expect(node).toMatchObject({
    kind: 'ok',
    object: {
      status: {
        allocatable: { cpu: '4', memory: '1Gi', pods: '110' },
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: 'Ready', status: 'True', reason: 'KubeletReady' }),
          expect.objectContaining({ type: 'MemoryPressure', status: 'False' }),
        ]) as unknown,
      },
    },
  });
});

test('the summary is not readable without the token', async () => {
  const status = await new Promise((resolve, reject) => {
    const asking = request(`${sandbox.node.url}/stats/summary`, { rejectUnauthorized: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asking.on('error', reject);
    asking.end();
  });
  expect(status).toBe(401);
});
