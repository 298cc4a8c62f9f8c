import { beforeEach, describe, expect, test } from 'vitest';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';
import { decodePolicy } from '#shared/api/node-pressure-policy/decode-policy.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { type AgentPod, type KnownNode, readKnownNode } from '#scheduler/nodes/known-node.ts';
import { createNodeMetrics, createWriteBudgets, type NodePassPorts } from '#scheduler/nodes/pass-ports.ts';
import { runSparePass } from '#scheduler/nodes/spare-pass.ts';
import { type ManualClock, manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { valueOf } from '#test/build/value-of.ts';

const RUNNING = new AbortController().signal;
const MEMORY = 'plimsoll.dev/spare-memory';
const CPU = 'plimsoll.dev/spare-cpu';

describe('the pass over spare room', () => {
  let clock: ManualClock;
  let spec: object;
  let node: { spec?: object; status: { capacity: Record<string, unknown>; conditions: readonly object[] } };
  let status: object;
  let requests: KubeRequest[];
  let ports: NodePassPorts;
  let isThere: boolean;
  let agents: Map<string, AgentPod>;

  beforeEach(() => {
    clock = manualClock();
    isThere = true;
    agents = new Map();
    spec = { mode: 'Enforce', spare: { mode: 'Enforce' } };
    node = {
      status: { capacity: { cpu: '4', memory: '8Gi' }, conditions: [{ type: 'Ready', status: 'True' }] },
    };
    report(2 ** 30);
    const { client, requests: sent } = scriptedClient(({ body }) => {
      const { status: written } = body as { readonly status: { readonly capacity: Record<string, unknown> } };
      const merged = Object.entries({ ...node.status.capacity, ...written.capacity });
      node.status.capacity = Object.fromEntries(merged.filter(([, amount]) => amount !== null));
      return { kind: 'ok', object: { metadata: {} }, warnings: [] };
    });
    requests = sent;
    const known = (): KnownNode => readKnownNode({ metadata: { name: 'n1', resourceVersion: '7' }, ...node });
    const pressure = () => decodeNodePressure({ metadata: { name: 'n1' }, status });
    ports = {
      client,
      clock,
      settingsOf: () => valueOf(decodePolicy({ metadata: { name: 'p' }, spec })).nodes,
      caches: {
        nodes: { values: () => (isThere ? [known()] : []), get: () => (isThere ? known() : undefined) },
        pressures: { get: pressure },
        agents: { get: (key: string) => agents.get(key) },
      },
      metrics: createNodeMetrics(createMetrics('scheduler')),
      log: { info: () => undefined, warn: () => undefined },
      term: { isHeld: () => true },
      budgets: createWriteBudgets({ writesPerMinute: 600 }, clock),
      spareWrites: new Map(),
      heardAgents: new Map(),
    } as unknown as NodePassPorts;
  });

  function report(lent: number, taken = 0, mode = 'Enforce', skewMs = 0, pod = ''): void {
    const amounts = { requested: 0, used: 0, median: 0, p99: 0, highest: 0, lendable: 0, lent, taken };
    const because = { code: 'Room', text: '', facts: {} };
    const spare = {
      mode,
      digest: '',
      memory: { ...amounts, because },
      cpu: { ...amounts, lent: 900, taken: 0, because },
    };
    status = {
      observedAt: new Date(clock.now() + skewMs).toISOString(),
      mode: 'Enforce',
      agent: { version: '1', pod },
      spare,
    };
  }

  /** The passes of so many seconds; the spare amounts of the node after them. */
  async function pass(seconds = 11): Promise<readonly unknown[]> {
    for (let second = 0; second < seconds; second += 1) {
      await runSparePass(ports, RUNNING);
      await clock.advance(1_000);
    }
    return [node.status.capacity[MEMORY], node.status.capacity[CPU]];
  }

  test('offers what the agent lends, in capacity and allocatable, and writes it once', async () => {
    expect(await pass()).toEqual(['1073741824', '900']);
    expect(requests).toMatchObject([
      {
        path: '/api/v1/nodes/n1/status',
        body: {
          metadata: { resourceVersion: '7' },
          status: { capacity: { [MEMORY]: '1073741824' }, allocatable: { [CPU]: '900' } },
        },
      },
    ]);
  });

  test.each<[string, () => unknown]>([
    ['the policy no longer lends', () => (spec = { mode: 'Enforce', spare: { mode: 'DryRun' } })],
    ['no policy speaks of it', () => (spec = {})],
    ['the agent only reports it', () => report(2 ** 30, 0, 'DryRun')],
    ['the agent reports no spare room', () => (status = { observedAt: new Date(clock.now()).toISOString() })],
    ['the agent is gone', () => (status = {})],
    ['the node is cordoned', () => (node.spec = { unschedulable: true })],
    ['the node is not ready', () => (node.status.conditions = [{ type: 'Ready', status: 'Unknown' }])],
    [
      'an autoscaler empties the node',
      () => (node.spec = { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] }),
    ],
  ])('withdraws both amounts by removing them when %s', async (_, change) => {
    await pass();
    report(2 ** 30, 2 ** 29);
    change();
    expect(await pass()).toEqual([undefined, undefined]);
    expect(requests.at(-1)?.body).toMatchObject({ status: { capacity: { [MEMORY]: null, [CPU]: null } } });
  });

  test('withdraws them when the agent has been silent for a minute, and not before', async () => {
    await pass(60);
    expect(node.status.capacity[MEMORY]).toBe('1073741824');
    expect(await pass(12)).toEqual([undefined, undefined]);
  });

  /** An agent in a pod, which reports once. */
  function agentInPod(isReady = true, on = 'n1'): void {
    agents.set('plimsoll-node/agent-1', { node: on, isReady });
    report(2 ** 30, 0, 'Enforce', 0, 'agent-1');
  }

  test('lends on by one report for as long as the pod of its agent is ready, and the report is not minutes old', async () => {
    agentInPod();
    expect(await pass(420)).toEqual(['1073741824', '900']);
    expect(requests).toHaveLength(1);
    expect(await pass(3)).toEqual([undefined, undefined]);
  });

  test('lends on while an agent is replaced within some seconds', async () => {
    agentInPod();
    await pass(60);
    agents.clear();
    expect((await pass(20))[0]).toBe('1073741824');
    agentInPod();
    await pass(60);
    expect(requests).toHaveLength(1);
  });

  test.each<[string, () => void]>([
    ['becomes unready', () => agentInPod(false)],
    ['is gone', () => agents.clear()],
    ['runs on another node: an agent speaks for its own', () => agentInPod(true, 'n2')],
  ])('withdraws them soon after the pod that the report names %s', async (_, change) => {
    agentInPod();
    await pass(60);
    change();
    await pass(25);
    expect(node.status.capacity[MEMORY]).toBe('1073741824');
    expect(await pass(3)).toEqual([undefined, undefined]);
  });

  test.each([
    [-100, '', 40],
    [55, '', 40],
    [-100, 'agent-1', 360],
    [55, 'agent-1', 360],
  ])(
    'lends steadily on a node whose clock is %d s off, with an agent in the pod "%s" and a report every %d s',
    async (off, pod, every) => {
      agentInPod();
      for (let round = 0; round < 5; round += 1) {
        report(2 ** 30, 0, 'Enforce', off * 1_000, pod);
        await pass(every);
      }
      expect(requests).toHaveLength(1);
    },
  );

  test('lends nothing by a report of some minutes ago', async () => {
    report(2 ** 30, 0, 'Enforce', -430_000);
    expect(await pass()).toEqual([undefined, undefined]);
  });

  test('offers no more CPU than the node has, also where that is a part of one', async () => {
    node.status.capacity = { cpu: '500m', memory: '8Gi' };
    expect(await pass()).toEqual(['1073741824', '500']);
  });

  test('forgets a node that is gone: in the term of one leader many come and go', async () => {
    await pass();
    expect([ports.spareWrites.size, ports.heardAgents.size]).toEqual([1, 1]);
    isThere = false;
    await pass(1);
    expect([ports.spareWrites.size, ports.heardAgents.size]).toEqual([0, 0]);
  });

  test('falls to what spare pods request and no further', async () => {
    await pass();
    report(0, 2 ** 28);
    expect((await pass())[0]).toBe(String(2 ** 28));
  });

  test('rises at once where a pod was placed while less was written', async () => {
    await pass();
    report(0, 2 ** 28);
    await pass(1);
    report(0, 2 ** 29);
    expect((await pass(1))[0]).toBe(String(2 ** 29));
  });

  test('writes nothing where nothing was ever asked for, and not every second where another controller undoes it', async () => {
    spec = {};
    await pass();
    expect(requests).toEqual([]);
    spec = { mode: 'Enforce', spare: { mode: 'Enforce' } };
    for (let second = 0; second < 30; second += 1) {
      node.status.capacity = { cpu: '4', memory: '8Gi' };
      report(2 ** 30);
      await pass(1);
    }
    expect(requests.length).toBeLessThanOrEqual(3);
  });
});
