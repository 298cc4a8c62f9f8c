import type { Server } from 'node:net';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { itemsOf } from '#shared/kube/decode/wire-object.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { EVICTIONS_ACCOUNT as EVICTIONS } from '#shared/kube/api-names.ts';
import { registerFully } from '#webhook/registration/registration.ts';
import { eventually } from '#test/build/waiting.ts';
import { accountClient, accountKubeconfig, WEBHOOK } from '#test/cluster/support/accounts.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { endTerminatedPods } from '#test/cluster/support/end-terminated-pods.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { roundRobin } from '#test/cluster/support/round-robin.ts';
import { installShippedSet, startShipped } from '#test/cluster/support/shipped-set.ts';
import { startWebhookProcess, type WebhookProcess } from '#test/cluster/support/webhook-process.ts';
import { at, textAt } from '#test/contract/harness.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { asking, onlyOn, PATIENCE_MS, podPath, RECORDS, removalScene } from './removal-scene.ts';

const SHOP = 'shop';
/** As deployed: the replicas share their CA. */
const SHARED_AUTHORITY = { tls: { secretName: 'plimsoll-webhook-tls', secretNamespace: 'plimsoll-system' } };
/** The agent's pod has some of the rest. */
const MAX_OF_A_NODE = '6';
const MAX = 4;
const UNDECIDED = /cannot decide about the eviction|too many requests are waiting/;
/** Its timeout, and the one pause of kubectl that has begun by then; ten times the time of an answer would be 600 s. */
const DRAINED_MS = 20_000;
const why = whyNoOwnCluster(process.env);

/** One limit, and removals of all kinds: two replicas of the webhook take the API server's questions in turn. */
describe.skipIf(why !== undefined)(`limits of disruptions${why ?? ''}`, () => {
  const own = ownCluster();
  const ended = new AbortController();
  const { send, create } = removalScene(own);
  let webhooks: readonly WebhookProcess[] = [];
  let recorder: SchedulerProcess;
  let front: Server;
  let ending: Promise<void>;

  beforeAll(async () => {
    const { admin } = own();
    await installShippedSet(own());
    const labels = { 'plimsoll.dev/disruption-limits': 'enforced' };
    await send('POST', '/api/v1/namespaces', { metadata: { name: SHOP, labels } });
    await send('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'high' }, value: 1_000 });
    await makeFakeNodes(admin, 'node', 2);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(2), PATIENCE_MS);
    await startWebhooks();
    recorder = await startShipped(own(), 'disruption-record');
    ending = endTerminatedPods(admin, ended.signal);
    const spec = { selector: { matchLabels: { app: 'web' } }, limits: [{ max: MAX, window: '1h' }] };
    const head = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'DisruptionLimit', metadata: { name: 'web' } };
    await send('POST', `${RECORDS}/namespaces/${SHOP}/disruptionlimits`, { ...head, spec });
  }, 120_000);
  afterAll(async () => {
    ended.abort();
    front.close();
    await Promise.all([ending, recorder.stop(), ...webhooks.map((each) => each.stop())]);
  });

  async function startWebhooks(): Promise<void> {
    const { admin, cluster } = own();
    const [frontPort = 0, ...ports] = await freePorts(3);
    front = roundRobin(frontPort, ports);
    const target = { kind: 'url', url: `https://127.0.0.1:${frontPort}` } as const;
    await registerFully(admin, { target, failurePolicy: 'Ignore', gatedCallers: [] });
    const place = { folder: dirname(cluster.kubeconfig), kubeconfig: await accountKubeconfig(own(), WEBHOOK) };
    webhooks = await Promise.all(ports.map((port) => startWebhookProcess(place, { port, ...SHARED_AUTHORITY })));
  }

  /** A pod that runs: of one that has not, nothing is debited. */
  async function web(name: string, spec: object): Promise<void> {
    const wanted = { ...asking('100m'), nodeName: 'node-1', ...spec };
    await create(name, wanted, { namespace: SHOP, metadata: { labels: { app: 'web' } } });
    await send('PATCH', `${podPath(SHOP, name)}/status`, { status: { phase: 'Running' } });
  }

  const evict = (namespace: string, name: string) =>
    own().admin.request({
      method: 'POST',
      path: `${podPath(namespace, name)}/eviction`,
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } },
    });

  /** Asks again, as a drain does, where a busy machine had no time to decide. */
  async function evictDecided(name: string): ReturnType<typeof evict> {
    const answer = await evict(SHOP, name);
    return UNDECIDED.test(String(at(answer, 'message'))) ? evictDecided(name) : answer;
  }

  async function debits(): Promise<readonly unknown[]> {
    const found = await own().admin.request({ path: `${RECORDS}/namespaces/${SHOP}/disruptionaccounts/plimsoll` });
    return itemsOf(at(found, 'object.status.debits'));
  }

  test('a preemption, a deletion and a drain are one account, which two replicas never overrun (S3-14, S3-16, S3-36)', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `web-${index}`);
    await web('victim', { ...asking(MAX_OF_A_NODE), nodeName: 'node-0' });
    for (const name of ['deleted', ...names]) await web(name, {});
    await create('preemptor', { ...asking(MAX_OF_A_NODE), ...onlyOn('node-0'), priorityClassName: 'high' });
    await eventually(
      async () => expect(await debits()).toMatchObject([{ pod: 'victim', cause: 'Preemption' }]),
      PATIENCE_MS,
    );
    await send('DELETE', podPath(SHOP, 'deleted'));
    const answers = await Promise.all(names.map(evictDecided));
    expect(answers.filter(({ kind }) => kind === 'ok')).toHaveLength(MAX - 2);
    const refused = answers.filter(({ kind }) => kind !== 'ok');
    const text = /DisruptionLimit `web`: at most 4 pods may be removed in 1h; 4 were; try again in \d+ s/;
    for (const answer of refused) {
      expect(answer.kind).toBe('tooManyRequests');
      expect(at(answer, 'message')).toMatch(text);
    }
    expect((await debits()).length).toBe(MAX);
  }, 60_000);

  test('the record names who deleted, and the limit shows rate, what is left and the pods (S3-20, S3-49)', async () => {
    await eventually(async () => {
      const records = itemsOf(at(await send('GET', `${RECORDS}/namespaces/${SHOP}/disruptions`), 'items'));
      const deleted = records.find((each) => at(each, 'spec.pod') === 'deleted');
      expect(deleted).toMatchObject({
        spec: { cause: 'Deletion', requestedBy: expect.any(String) as string, debited: { limits: ['limit/web'] } },
      });
      expect(textAt(deleted, 'spec.because.text')).toBe(`it was deleted by ${textAt(deleted, 'spec.requestedBy')}`);
      expect(await send('GET', `${RECORDS}/namespaces/${SHOP}/disruptionlimits/web`)).toMatchObject({
        status: { expectedPods: 8, windows: [{ window: '1h', removed: MAX, max: MAX, left: 0 }] },
      });
      expect(new Set((await debits()).map((each) => at(each, 'uid'))).size).toBe(MAX);
    }, PATIENCE_MS);
  }, 60_000);

  test('a stolen token of the controller forges no debit of our own evictions, which would stop every agent', async () => {
    const stolen = await accountClient(own(), { namespace: 'plimsoll-system', name: 'plimsoll-controller' });
    const accounts = `${RECORDS}/namespaces/plimsoll-system/disruptionaccounts`;
    const account = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'DisruptionAccount', metadata: { name: EVICTIONS } };
    const isRefused = {
      kind: 'forbidden',
      message: expect.stringContaining('counts removals only in the account plimsoll') as string,
    };
    const write = (client: KubeClient, method: 'POST' | 'PUT', path: string, body: object) =>
      client.request({ method, path, body, query: { dryRun: 'All' } });
    expect(await write(stolen, 'POST', accounts, account)).toMatchObject(isRefused);
    const { admin } = own();
    await admin.request({ method: 'POST', path: accounts, body: account });
    const path = `${accounts}/${EVICTIONS}/status`;
    const held = await admin.request({ path: `${accounts}/${EVICTIONS}` });
    const forged = { ...(at(held, 'object') as object), status: { debits: [] } };
    expect(await write(stolen, 'PUT', path, forged)).toMatchObject(isRefused);
    expect(await write(admin, 'PUT', path, forged)).toMatchObject({ kind: 'ok' });
    const counted = { ...account, metadata: { name: 'plimsoll' } };
    expect(await write(stolen, 'POST', accounts, counted)).toMatchObject({ kind: 'ok' });
    stolen.close();
  }, 60_000);

  test('kubectl drain says why it waits, every 5 s, and ends with its timeout', async () => {
    const began = performance.now();
    const drain = ['drain', 'node-1', '--force', '--pod-selector=app=web', '--timeout=3s'];
    const { status, stderr } = await kubectl(own().cluster.kubeconfig, drain);
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/will retry after 5s\): .*at most 4 pods may be removed in 1h; 4 were; try again in \d+ s/);
    expect(performance.now() - began).toBeLessThan(DRAINED_MS);
  }, 60_000);

  test('with the webhook away, drains work in every namespace without the label, and wait in those with it', async () => {
    await create('free', { ...asking('100m'), nodeName: 'node-1' });
    await Promise.all(webhooks.map((each) => each.stop()));
    expect(await evict('default', 'free')).toMatchObject({ kind: 'ok' });
    expect(await evict(SHOP, 'web-9')).not.toMatchObject({ kind: 'ok' });
  }, 60_000);
});
