import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApiServer, type ApiServer } from '#sandbox/api-server/start-api-server.ts';
import { runScheduler } from '#sandbox/scheduler/run-scheduler.ts';
import { createClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { at, contractHarness, pod, type ContractTarget } from '#test/contract/harness.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

/** No kubelet ends pods here: a victim stays on its way out until the test removes it. */
const GRACE_SECONDS = 25;
/** Long enough for several rounds after a change. */
const WATCHED_MS = 300;

describe('the scheduler of the sandbox, over HTTPS', () => {
  let server: ApiServer;
  let target: ContractTarget;
  let running: Promise<void>;
  const stop = new AbortController();

  beforeAll(async () => {
    const log = createLog({ component: 'sandbox', level: 'silent', format: 'json' });
    server = await startApiServer({ host: '127.0.0.1', port: 0, clock: systemClock, log });
    const connection = directConnection({ server: server.url, token: server.token, ca: server.caPem });
    target = { kind: 'sandbox', connection };
    const client = createClient(connection, { userAgent: 'scheduler' });
    running = runScheduler({ client, clock: systemClock, log }, stop.signal).finally(() => client.close());
  });
  afterAll(async () => {
    stop.abort();
    await running;
    await server.close();
  });

  const api = contractHarness(() => target);
  const podPath = (name: string): string => api.core(`pods/${name}`);

  async function make(path: string, body: object): Promise<void> {
    const { status, body: answer } = await api.post(path, body);
    expect([status, at(answer, 'message')]).toEqual([201, undefined]);
  }

  async function makeNode(name: string): Promise<void> {
    const status = { allocatable: { cpu: '2', memory: '4Gi', pods: '10' } };
    await make('/api/v1/nodes', { metadata: { name }, status });
  }

  async function makePod(name: string, priority: number, spec: object = {}): Promise<void> {
    const priorityClassName = `level-${priority}`;
    const level = { metadata: { name: priorityClassName }, value: priority };
    await api.post('/apis/scheduling.k8s.io/v1/priorityclasses', level);
    const containers = [{ name: 'main', image: 'x', resources: { requests: { cpu: '2' } } }];
    const usual = { schedulerName: 'default-scheduler', terminationGracePeriodSeconds: GRACE_SECONDS };
    await make(api.core('pods'), pod(name, { ...usual, priorityClassName, containers, ...spec }));
  }

  /** A node that a low pod has before the scheduler sees it. */
  async function makeTakenNode(node: string, lowPod: string): Promise<void> {
    await makePod(lowPod, 1, { nodeName: node });
    // Pods and nodes come by two watches: were the node seen first, it would be empty.
    await letTimePass(WATCHED_MS, 'unseen');
    await makeNode(node);
  }

  async function seen(name: string): Promise<unknown> {
    return (await api.get(podPath(name))).body;
  }

  async function ending(...names: readonly string[]): Promise<readonly string[]> {
    const pods = await Promise.all(names.map(seen));
    return names.filter((_, index) => at(pods[index], 'metadata.deletionTimestamp') !== undefined);
  }

  async function eventsOf(name: string): Promise<readonly unknown[]> {
    const { body } = await api.get(api.core('events'), { query: { fieldSelector: `involvedObject.name=${name}` } });
    const items = at(body, 'items') as readonly unknown[];
    return items.map((item) => [at(item, 'reason'), at(item, 'message')]);
  }

  test('nominates who preempts, gives one victim its grace, and takes no second one while that is leaving', async () => {
    await makeTakenNode('first', 'one');
    await makePod('urgent', 100);
    await eventually(async () => expect(at(await seen('urgent'), 'status.nominatedNodeName')).toBe('first'));
    const victim = await seen('one');
    expect(at(victim, 'metadata.deletionGracePeriodSeconds')).toBe(GRACE_SECONDS);
    expect(at(victim, 'status.conditions')).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }),
    );
    expect(at(await seen('urgent'), 'status.conditions')).toContainEqual(
      expect.objectContaining({ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }),
    );
  });

  test('keeps the room for the nominated pod, and binds it when the victim is gone', async () => {
    await makePod('middle', 50);
    await makeTakenNode('second', 'two');
    await eventually(async () => expect(await ending('one', 'two')).toEqual(['one', 'two']));
    expect(at(await seen('middle'), 'status.nominatedNodeName')).toBe('second');
    await makeTakenNode('third', 'three');
    await letTimePass(WATCHED_MS, 'watched');
    expect(await ending('three')).toEqual([]);
    await api.remove(podPath('one'), { gracePeriodSeconds: 0 });
    await eventually(async () => expect(at(await seen('urgent'), 'spec.nodeName')).toBe('first'));
    expect(at(await seen('middle'), 'spec.nodeName')).toBeUndefined();
  });

  test('says in events who made room for whom', async () => {
    const uid = at(await seen('middle'), 'metadata.uid') as string;
    await eventually(async () =>
      expect(await eventsOf('two')).toContainEqual(['Preempted', `Preempted by pod ${uid} on node second`]),
    );
    await eventually(async () =>
      expect(await eventsOf('urgent')).toContainEqual([
        'Scheduled',
        `Successfully assigned ${api.namespace}/urgent to first`,
      ]),
    );
  });
});
