import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { createAgent } from '#agent/agent.ts';
import { agentConfiguration } from '#agent/configuration.ts';
import { createLog } from '#shared/runtime/log.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { fastClock } from '#test/fakes/fast-clock.ts';
import { type AgentApi, agentApi } from './agent-api.ts';

const NODE_PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';

/**
 * An agent in this process between an API server and a kubelet, both doubles; everything ends with each test.
 * The agent's intervals pass `factor` times as fast as time, and it measures as often as without.
 */
export function agentRig(factor = 1) {
  const rig = { summary: (): object => ({}), skippedMs: 0 } as {
    api: AgentApi;
    summary: () => object;
    /** By how much the agent's monotonic clock is ahead: time that a test does not wait for. */
    skippedMs: number;
  };
  const fast = fastClock(factor);
  const clock: Clock = { ...fast, monotonic: () => fast.monotonic() + rig.skippedMs };
  let kubelet: Server;
  let directory: string;
  let stop: () => Promise<void>;

  beforeEach(async () => {
    rig.api = await agentApi();
    rig.skippedMs = 0;
    kubelet = createServer((_request, response) => response.end(JSON.stringify(rig.summary())));
    await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', resolve));
    directory = mkdtempSync(join(tmpdir(), 'plimsoll-agent-'));
    writeFileSync(join(directory, 'token'), 'secret');
    writeFileSync(join(directory, 'ca.crt'), '');
    rig.api.put('/api/v1/nodes', { metadata: { name: 'n1', uid: 'uid-n1', labels: { pool: 'batch' } } });
    rig.api.put('/api/v1/namespaces', { metadata: { name: 'default', labels: {} } });
  });

  afterEach(async () => {
    await stop();
    await rig.api.close();
    kubelet.closeAllConnections();
    kubelet.close();
    rmSync(directory, { recursive: true });
  });

  async function start(changes: object = {}): Promise<string> {
    const configuration = agentConfiguration.parse({
      nodeName: 'n1',
      mode: 'Enforce',
      source: 'summary',
      warmUpMs: 0,
      kubelet: { url: `http://127.0.0.1:${(kubelet.address() as AddressInfo).port}` },
      period: { nearMs: 20 * factor, farMs: 100 * factor, podsMs: 100 * factor, slowMs: 1000 },
      health: { host: '127.0.0.1', port: 0 },
      ...changes,
    });
    const env = {
      PLIMSOLL_SERVER: rig.api.url,
      PLIMSOLL_TOKEN_FILE: join(directory, 'token'),
      PLIMSOLL_CA_FILE: join(directory, 'ca.crt'),
      POD_NAME: 'agent-x',
    };
    const log = createLog({ component: 'agent', level: 'silent', format: 'json' });
    const agent = await createAgent(configuration, { clock, log, env });
    const controller = new AbortController();
    stop = async () => {
      controller.abort();
      await agent.stop();
    };
    return (await agent.start(controller.signal)).url;
  }

  function evictions() {
    return rig.api.writes.filter(({ path, isDryRun }) => path.endsWith('/eviction') && !isDryRun);
  }

  function dryRuns() {
    return rig.api.writes.filter(({ path, isDryRun }) => path.endsWith('/eviction') && isDryRun);
  }

  function events(): Record<string, unknown>[] {
    return rig.api.writes.filter(({ path }) => path.includes('/events')).map(({ body }) => body);
  }

  function status(): Record<string, unknown> {
    const patch = rig.api.writes.findLast(({ method, path }) => method === 'PATCH' && path.startsWith(NODE_PRESSURES));
    return (patch?.body['status'] ?? {}) as Record<string, unknown>;
  }

  function condition(type: string): object | undefined {
    const conditions = status()['conditions'] as { readonly type: string }[] | undefined;
    return conditions?.find((each) => each.type === type);
  }

  return Object.assign(rig, { start, evictions, dryRuns, events, status, condition });
}
