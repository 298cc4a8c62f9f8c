import { beforeAll, describe, expect, test } from 'vitest';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';
import { at } from '#test/contract/harness.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { processScene } from '#test/scheduler/process-scene.ts';
import { eventually } from '#test/build/waiting.ts';
import { NODE_POLICIES, nodePolicy, WRITING_TAINTS } from './node-policies.ts';

const TIMEOUT_MS = 60_000;
const PATIENCE_MS = 30_000;
const NODES = '/api/v1/nodes';
const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const ENFORCE = { avoidance: { mode: 'Enforce' }, ...WRITING_TAINTS };
const FOREIGN = { key: 'team', value: 'a', effect: 'NoSchedule' };

describe('the node controller of the scheduler process', { timeout: TIMEOUT_MS }, () => {
  const { send, start } = processScene();
  let scheduler: SchedulerProcess | undefined;

  beforeAll(async () => {
    await send('POST', NODE_POLICIES, nodePolicy('all', ENFORCE));
    scheduler = await start(['--extender=Off']);
  }, TIMEOUT_MS);

  /** A node with a foreign taint and condition, and a NodePressure that no agent has written yet. */
  async function createNode(name: string): Promise<void> {
    const conditions = [{ type: 'Ready', status: 'True' }];
    const metadata = { name, labels: { node: name } };
    await send('POST', NODES, { metadata, spec: { taints: [FOREIGN] }, status: { conditions } });
    const object = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name } };
    await send('POST', PRESSURES, object);
  }

  /** Writes a status as the agent of a node does. */
  async function report(name: string, memory: 'True' | 'False', more: object = {}): Promise<void> {
    const observedAt = new Date().toISOString();
    const texts = { reason: 'x', message: 'x', lastTransitionTime: observedAt };
    const conditions = [{ type: 'Memory', status: memory, ...texts }];
    const status = { observedAt, mode: 'Enforce', conditions, ...more };
    await send('PATCH', `${PRESSURES}/${name}/status`, { status });
  }

  function evicted(uid: string, owner: string, minutesAgo: number): object {
    const requestedAt = new Date(Date.now() - minutesAgo * 60_000).toISOString();
    const because = { code: 'x', text: 'x' };
    return { pod: `default/${uid}`, uid, owner, signal: 'memory.available', outcome: 'evicted', requestedAt, because };
  }

  async function taintsOf(name: string): Promise<unknown> {
    const taints = at(await send('GET', `${NODES}/${name}`), 'spec.taints') as readonly Record<string, unknown>[];
    return taints.map(({ key, effect }) => `${String(key)}:${String(effect)}`);
  }

  async function conditionOf(name: string, type: string): Promise<unknown> {
    const all = at(await send('GET', `${NODES}/${name}`), 'status.conditions') as readonly Record<string, unknown>[];
    return all.find((each) => each['type'] === type)?.['status'];
  }

  const avoidOf = async (name: string) => decodeNodePressure(await send('GET', `${PRESSURES}/${name}`)).avoid;

  test('pressure becomes a taint and a condition, and both follow its end; those of others stay', async () => {
    await createNode('n1');
    await report('n1', 'True');
    await eventually(async () => {
      expect(await taintsOf('n1')).toEqual(['team:NoSchedule', 'plimsoll.dev/memory-pressure:NoSchedule']);
      expect(await conditionOf('n1', 'plimsoll.dev/MemoryContention')).toBe('True');
    }, PATIENCE_MS);
    await report('n1', 'False');
    await eventually(async () => {
      expect(await taintsOf('n1')).toEqual(['team:NoSchedule']);
      expect(await conditionOf('n1', 'plimsoll.dev/MemoryContention')).toBe('False');
    }, PATIENCE_MS);
    expect(await conditionOf('n1', 'Ready')).toBe('True');
  });

  test('when the NodePressure of a node is deleted, its condition goes', async () => {
    await createNode('n2');
    await report('n2', 'False');
    const condition = () => conditionOf('n2', 'plimsoll.dev/MemoryContention');
    await eventually(async () => expect(await condition()).toBe('False'), PATIENCE_MS);
    await send('DELETE', `${PRESSURES}/n2`);
    await eventually(async () => expect(await condition()).toBeUndefined(), PATIENCE_MS);
  });

  test('an eviction keeps its owner away for the time of the policy in force', async () => {
    await createNode('n3');
    const nodeSelector = { matchLabels: { node: 'n3' } };
    await send('POST', NODE_POLICIES, nodePolicy('pool', { ...ENFORCE, nodeSelector, order: 1, avoidFor: '30m' }));
    await report('n3', 'False', { evictions: [evicted('u1', 'default/ReplicaSet/web', 0)] });
    await eventually(async () => expect(await avoidOf('n3')).toHaveLength(1), PATIENCE_MS);
    const [entry] = await avoidOf('n3');
    expect(entry).toMatchObject({ owner: { namespace: 'default', kind: 'ReplicaSet', name: 'web' }, hard: false });
    const minutes = ((entry?.until ?? 0) - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(28);
    expect(minutes).toBeLessThanOrEqual(30);
  });

  test('an owner that keeps coming back is a loop: one Event names it and the node, and it is counted', async () => {
    await createNode('n4');
    const evictions = [1, 5, 9].map((ago) => evicted(`u${ago}`, 'default/ReplicaSet/web', ago));
    await report('n4', 'False', { evictions });
    await eventually(async () => expect(await avoidOf('n4')).toHaveLength(1), PATIENCE_MS);
    await eventually(async () => {
      const events = at(await send('GET', '/apis/events.k8s.io/v1/events'), 'items') as readonly unknown[];
      const loops = events.filter((each) => at(each, 'reason') === 'EvictionLoopDetected');
      expect(loops.map((each) => [at(each, 'regarding.name'), at(each, 'related.name')])).toEqual([['n4', 'web']]);
    }, PATIENCE_MS);
    const metrics = await scheduler?.metrics();
    expect(metrics).toMatch(/plimsoll_scheduler_eviction_loops_total 1/);
    expect(metrics).toMatch(/plimsoll_scheduler_node_writes_total\{object="avoid",outcome="ok"\} \d/);
  });

  test('an entry that ended is removed', async () => {
    await createNode('n5');
    const owner = { namespace: 'default', kind: 'ReplicaSet', name: 'old' };
    const until = new Date(Date.now() + 3_000).toISOString();
    await send('PATCH', `${PRESSURES}/n5`, { spec: { avoid: [{ owner, until, cause: 'by hand', hard: false }] } });
    expect(await avoidOf('n5')).toHaveLength(1);
    await eventually(async () => expect(await avoidOf('n5')).toEqual([]), PATIENCE_MS);
  });

  test('in mode DryRun nothing is written; once the policy says Enforce, what is missing is, without a restart', async () => {
    const modes = (mode: string) => ({ spec: { avoidance: { mode }, taints: { mode } } });
    await send('PATCH', `${NODE_POLICIES}/all`, modes('DryRun'));
    await createNode('n6');
    await report('n6', 'True', { evictions: [evicted('u6', 'default/ReplicaSet/web', 0)] });
    await eventually(() => {
      expect(scheduler?.log()).toContain('taint: Memory of node n6: under pressure');
      return Promise.resolve();
    }, PATIENCE_MS);
    expect(scheduler?.log()).toContain('evicted from node n6 for memory.available');
    expect(await taintsOf('n6')).toEqual(['team:NoSchedule']);
    expect(await avoidOf('n6')).toEqual([]);
    await send('PATCH', `${NODE_POLICIES}/all`, modes('Enforce'));
    await eventually(async () => expect(await avoidOf('n6')).toHaveLength(1), PATIENCE_MS);
    await eventually(async () => expect(await taintsOf('n6')).toHaveLength(2), PATIENCE_MS);
    await send('DELETE', `${NODE_POLICIES}/all`);
    await eventually(async () => expect(await taintsOf('n6')).toEqual(['team:NoSchedule']), PATIENCE_MS);
    expect(await conditionOf('n6', 'plimsoll.dev/MemoryContention')).toBeUndefined();
  });
});
