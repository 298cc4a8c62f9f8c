import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient } from '#shared/kube/client/client.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { SharedStreams } from '#shared/kube/reflector/shared-streams.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createClusterView } from '#scheduler/cluster-view.ts';
import { apiDouble, type ApiDouble } from '#test/fakes/api-double.ts';
import { eventually } from '#test/build/waiting.ts';

const PODS = '/api/v1/pods';

let api: ApiDouble;
beforeEach(async () => {
  api = await apiDouble();
});
afterEach(() => api.close());

function pod(uid: string, nodeName: string) {
  return { metadata: { namespace: 'team', name: 'db-0', uid }, spec: { nodeName, containers: [] }, status: {} };
}

test('a pod that comes back under its name takes the place of the one before', async () => {
  const metrics = createMetrics('test');
  const log = createLog({ component: 'test', level: 'fatal', format: 'json' });
  const client = createClient({ server: api.url }, { userAgent: 'test', metrics });
  const streams = new SharedStreams();
  const { snapshot } = createClusterView({
    streams,
    client,
    clock: systemClock,
    random: () => 0.5,
    log,
    metrics,
    observePod: () => undefined,
    observeLoops: () => undefined,
  });
  const stop = new AbortController();
  api.put(PODS, pod('first', 'node-1'));
  const running = streams.run(stop.signal);
  await eventually(() => expect([...snapshot.placedPods.keys()]).toEqual(['first']));
  // The server keeps no history: what changes before the watch is open would never be told.
  await eventually(() => {
    api.put(PODS, pod('first', 'node-0'));
    expect(snapshot.placedPods.get('first')?.pod.spec.nodeName).toBe('node-0');
  });
  api.remove(PODS, 'team/db-0');
  api.put(PODS, pod('second', 'node-2'));
  await eventually(() => expect([...snapshot.placedPods.keys()]).toEqual(['second']));
  stop.abort();
  await running;
  client.close();
});
