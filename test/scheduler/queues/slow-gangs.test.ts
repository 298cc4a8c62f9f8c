import { expect, test } from 'vitest';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createQueueMetrics } from '#scheduler/queues/queue-metrics.ts';
import { Reclaim } from '#scheduler/queues/reclaim.ts';
import { StartGangs, type StartGangsPorts } from '#scheduler/queues/start-gangs.ts';
import { at } from '#test/contract/harness.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { GATE, queueFor, queueWorld, type WatchedPod } from '#test/shared/decide/queues/queue-world.ts';

const SIZE = 200;
const NODES = { 'node-0': 100, 'node-1': 100 };
const OK: Outcome<unknown> = { kind: 'ok', object: { metadata: {} }, warnings: [] };

/** A gang of many small pods, and an API server that takes so long for each write of a nomination. */
function stageOf(writeMs: number, letIn?: (signal: AbortSignal) => Promise<void>) {
  const manual = manualClock();
  const world = queueWorld([queueFor('shop')], NODES, { now: () => manual.now() });
  const labels = { 'plimsoll.dev/gang': 'train', 'plimsoll.dev/gang-size': String(SIZE) };
  const nominated = new Set<string>();
  const see = (name: string, change: Partial<WatchedPod> = {}): void => {
    world.see({ name, labels, gates: [GATE], cpu: 1, ...change });
  };
  for (let index = 0; index < SIZE; index += 1) see(`pod-${index}`);
  const answer = async ({ path, body }: KubeRequest): Promise<Outcome<unknown>> => {
    await manual.sleep(writeMs);
    const name = /pods\/([^/]+)/.exec(path)?.[1] ?? '';
    const node = at(body, 'status.nominatedNodeName');
    if (node === null) nominated.delete(name);
    else nominated.add(name);
    see(name, typeof node === 'string' ? { nominatedTo: node } : {});
    return OK;
  };
  const { client, requests } = scriptedClient(answer);
  const log = createLog({ component: 'scheduler', level: 'silent', format: 'json' });
  const ports: StartGangsPorts = {
    client,
    clock: manual,
    log,
    pods: world.pods,
    snapshot: world.snapshot,
    term: { isHeld: () => true },
    leading: new AbortController().signal,
    letIn: (_, signal) => letIn?.(signal) ?? Promise.resolve(),
  };
  return { ...world, manual, ports, nominated, see, requests };
}

async function advance(manual: ReturnType<typeof manualClock>, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) await manual.advance(1_000);
}

test('where each write takes four seconds, a gang gives up after half a minute and holds nothing after another', async () => {
  const { manual, ports, nominated, plan } = stageOf(4_000);
  const starts = new StartGangs(ports);
  void starts.round(plan(), ports.leading);
  await advance(manual, 29);
  expect([nominated.size > 0, starts.isStarting('uid-pod-0')]).toEqual([true, true]);
  for (let second = 0; second < 39 && starts.isStarting('uid-pod-0'); second += 1) await advance(manual, 1);
  expect([nominated.size, starts.isStarting('uid-pod-0')]).toEqual([0, false]);
  expect(starts.whyNotNow('shop/train')?.code).toBe('GangNotNominated');
});

test('where gates come off too slowly, the pods that are left hold nothing after half a minute', async () => {
  let [begun, ended] = [0, 0];
  const slow = async (signal: AbortSignal): Promise<void> => {
    begun += 1;
    await manual.sleep(3_600_000, signal);
    ended += 1;
  };
  const stage = stageOf(1, slow);
  const { manual, ports, nominated, plan } = stage;
  const starts = new StartGangs(ports);
  void starts.round(plan(), ports.leading);
  await advance(manual, 2);
  expect([begun, ended, nominated.size]).toEqual([1, 0, SIZE]);
  await advance(manual, 30);
  await starts.settled();
  expect([nominated.size, starts.isStarting('uid-pod-0')]).toEqual([0, false]);
});

test('the next leader clears what the last one left for many pods at once', async () => {
  const stage = stageOf(4_000);
  const { manual, ports, see, plan, nominated } = stage;
  for (let index = 0; index < SIZE; index += 1) {
    nominated.add(`pod-${index}`);
    // One pod is gone, so the gang does not start.
    if (index > 0) see(`pod-${index}`, { nominatedTo: 'node-0' });
  }
  stage.gone('pod-0');
  nominated.delete('pod-0');
  const metrics = createQueueMetrics(createMetrics('scheduler'));
  const events = { record: () => undefined };
  const settings = () => ({ mode: 'DryRun' as const, overuse: 'Keep' as const });
  const reclaim = new Reclaim({ ...ports, pods: stage.pods, metrics, events, settings });
  const round = reclaim.round(plan(), ports.leading);
  await advance(manual, 55);
  await round;
  expect(nominated.size).toBe(0);
});
