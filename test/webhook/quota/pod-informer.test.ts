import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApiServer, type ApiServer } from '#sandbox/api-server/start-api-server.ts';
import { createClient, type ByteStream, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { createObject } from '#shared/kube/client/objects.ts';
import { failureOf } from '#shared/kube/client/outcome.ts';
import { NAMESPACES, PODS } from '#shared/kube/resource.ts';
import { fastClock } from '#test/fakes/fast-clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { PodInformer } from '#webhook/quota/pod-informer.ts';
import { seededJitter } from '#test/fakes/jitter.ts';
import { eventually } from '#test/build/waiting.ts';

const log = createLog({ component: 'test', level: 'silent', format: 'json' });
const clock = fastClock(5);
const WAIT = 30_000;
const TIMEOUT_MS = 60_000;

let server: ApiServer;
let api: KubeClient;
/** The API server that answers. */
let answering: KubeClient;
let names: readonly string[];
let areNamespacesKnown: boolean;
/** Whether watches are refused as too old; those that are open end. */
let isCutOff: boolean;
let watches: ByteStream[];

beforeAll(async () => {
  server = await startApiServer({ host: '127.0.0.1', port: 0, clock, log });
  const connection = directConnection({ server: server.url, token: server.token, ca: server.caPem });
  api = createClient(connection, { userAgent: 'test' });
});
afterAll(async () => {
  api.close();
  await server.close();
});
beforeEach(() => {
  names = ['pods'];
  areNamespacesKnown = true;
  isCutOff = false;
  watches = [];
  answering = api;
});

function informer(): PodInformer {
  return new PodInformer({
    client: { ...api, request: (request) => answering.request(request), stream },
    chargedNames: () => names,
    areNamespacesKnown: () => Promise.resolve(areNamespacesKnown),
    clock,
    random: seededJitter(),
    log,
    metrics: createMetrics('test'),
  });
}

const stream: KubeClient['stream'] = async (request) => {
  if (request.query?.['watch'] !== true) return answering.stream(request);
  if (isCutOff) return failureOf(410, { message: 'too old resource version' });
  const opened = await answering.stream(request);
  if (opened.kind === 'ok') watches.push(opened.object);
  return opened;
};

function cutOff(): void {
  isCutOff = true;
  for (const watch of watches.splice(0)) watch.close();
}

async function running(pods: PodInformer, body: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const run = pods.run(stop.signal);
  try {
    await body();
  } finally {
    stop.abort();
    await run;
  }
}

let last = 0;

async function newNamespace(): Promise<string> {
  const name = `team-${(last += 1)}`;
  await createObject(api, { resource: NAMESPACES }, { metadata: { name } });
  return name;
}

/** Resolves with its UID. */
async function newPod(namespace: string, name: string): Promise<string> {
  const spec = { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'registry.test/idle:1' }] };
  const created = await createObject(api, { resource: PODS, namespace }, { metadata: { name }, spec });
  if (created.kind !== 'ok') throw new Error(created.message);
  return created.object.metadata.uid ?? '';
}

async function removePod(namespace: string, name: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  const deleted = await api.request({ method: 'DELETE', path, body: { gracePeriodSeconds: 0 } });
  if (deleted.kind !== 'ok') throw new Error(deleted.message);
}

function addNamespace(pods: PodInformer, name: string): void {
  pods.view.addNamespace({ name, labels: new Map(), revision: 1 });
  pods.namespacesChanged();
}

describe('PodInformer', { timeout: TIMEOUT_MS }, () => {
  test('follows the pods of namespaces with quotas, existing and new, and no others', async () => {
    const pods = informer();
    const [ours, others] = [await newNamespace(), await newNamespace()];
    const before = await newPod(ours, 'before');
    const foreign = await newPod(others, 'foreign');
    addNamespace(pods, ours);
    await running(pods, async () => {
      await eventually(() => expect(pods.view.get(before)?.generation).toBe(1), WAIT);
      const after = await newPod(ours, 'after');
      await eventually(() => expect(pods.view.get(after)?.group.namespace.name).toBe(ours), WAIT);
      await removePod(ours, 'before');
      await eventually(
        () => expect([pods.view.get(before), pods.view.isGone(before)]).toEqual([undefined, true]),
        WAIT,
      );
      expect([pods.view.get(foreign), pods.view.size, pods.view.isWhole]).toEqual([undefined, 1, true]);
    });
  });

  test('lists a namespace that gets quotas later', async () => {
    const pods = informer();
    const [first, second] = [await newNamespace(), await newNamespace()];
    const uid = await newPod(second, 'there');
    addNamespace(pods, first);
    await running(pods, async () => {
      await eventually(() => expect(pods.view.isWhole).toBe(true), WAIT);
      addNamespace(pods, second);
      await eventually(() => expect(pods.view.get(uid)?.group.namespace.name).toBe(second), WAIT);
    });
  });

  test('lists again after a watch that cannot continue, and drops pods deleted in the meantime', async () => {
    const pods = informer();
    const namespace = await newNamespace();
    const gone = await newPod(namespace, 'gone');
    addNamespace(pods, namespace);
    await running(pods, async () => {
      await eventually(() => expect(pods.view.get(gone)).toBeDefined(), WAIT);
      cutOff();
      await removePod(namespace, 'gone');
      const come = await newPod(namespace, 'come');
      isCutOff = false;
      await eventually(() => expect(pods.view.get(come)).toBeDefined(), WAIT);
      await eventually(() => expect(pods.view.get(gone)).toBeUndefined(), WAIT);
    });
  });

  test('starts over when quotas limit other resources', async () => {
    const pods = informer();
    const namespace = await newNamespace();
    const uid = await newPod(namespace, 'there');
    addNamespace(pods, namespace);
    await running(pods, async () => {
      await eventually(() => expect(pods.view.get(uid)).toBeDefined(), WAIT);
      const { life } = pods.view;
      names = ['pods', 'requests.cpu'];
      await eventually(() => expect(pods.view.names).toEqual(names), WAIT);
      await eventually(
        () => expect([pods.view.life > life, pods.view.get(uid) !== undefined]).toEqual([true, true]),
        WAIT,
      );
    });
  });

  test('proves that nothing is missing up to the request, and not before that is certain', async () => {
    const pods = informer();
    addNamespace(pods, await newNamespace());
    await running(pods, async () => {
      await eventually(() => expect(pods.view.isWhole).toBe(true), WAIT);
      expect(pods.provenAt).toBe(-Infinity);
      const askedAt = clock.monotonic();
      pods.prove();
      await eventually(() => expect(pods.provenAt).toBeGreaterThanOrEqual(askedAt), WAIT);
      areNamespacesKnown = false;
      const { provenAt } = pods;
      await eventually(() => {
        pods.prove();
        expect(clock.monotonic() - askedAt).toBeGreaterThan(3_000);
      }, WAIT);
      expect(pods.provenAt).toBe(provenAt);
    });
  });

  test('starts over where storage was restored from a backup, though its watch is only silent', async () => {
    const backup = await startApiServer({ host: '127.0.0.1', port: 0, clock, log });
    const { url, token, caPem } = backup;
    const restored = createClient(directConnection({ server: url, token, ca: caPem }), { userAgent: 'test' });
    const pods = informer();
    const name = await newNamespace();
    addNamespace(pods, name);
    const created = await Promise.all(Array.from({ length: 20 }, (_, index) => newPod(name, `p${index}`)));
    await running(pods, async () => {
      await eventually(() => expect(pods.view.size).toBe(created.length), WAIT);
      answering = restored;
      const { position } = pods.view;
      pods.prove();
      await eventually(() => expect(pods.view.position).toBeLessThan(position), WAIT);
      await eventually(() => expect([pods.view.isWhole, pods.view.size]).toEqual([true, 0]), WAIT);
    });
    restored.close();
    await backup.close();
  });

  test('proves nothing from a watch that is silent until it has caught up', async () => {
    const pods = informer();
    const namespace = await newNamespace();
    addNamespace(pods, namespace);
    await running(pods, async () => {
      await eventually(() => expect(pods.view.isWhole).toBe(true), WAIT);
      cutOff();
      const uid = await newPod(namespace, 'missed');
      const askedAt = clock.monotonic();
      pods.prove();
      await eventually(() => expect(clock.monotonic() - askedAt).toBeGreaterThan(1_500), WAIT);
      const [provenAt, isKnown] = [pods.provenAt, pods.view.get(uid) !== undefined];
      expect(provenAt < askedAt || isKnown).toBe(true);
      isCutOff = false;
      await eventually(() => expect(pods.provenAt).toBeGreaterThanOrEqual(askedAt), WAIT);
      expect(pods.view.get(uid)).toBeDefined();
    });
  });
});
