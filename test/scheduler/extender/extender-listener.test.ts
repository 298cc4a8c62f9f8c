import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { NodePressureFacts } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { serve } from '#shared/http/serve.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { extenderListener, type Verb } from '#scheduler/extender/extender-listener.ts';
import type { PreemptionLoops } from '#scheduler/preemptions/preemption-loops.ts';
import { loopsAfter } from '#test/scheduler/preemptions/loops-after.ts';
import { buildPod } from '#test/build/cluster.ts';
import { eventually } from '#test/build/waiting.ts';
import { ask, type Asking, NOW, Pod, proposal, start } from './asked-extender.ts';

const TOO_MUCH = JSON.stringify({ Pod: 'x'.repeat(2000) });

describe('POST /preempt', () => {
  const args = JSON.stringify({ Pod, NodeNameToVictims: null, NodeNameToMetaVictims: proposal });

  test('answers with the nodes where no protected pod would go', async () => {
    const answer = await ask(args);
    expect(answer).toMatchObject({ status: 200, body: { NodeNameToMetaVictims: { n0: proposal.n0 } } });
    expect(answer.body).not.toHaveProperty('NodeNameToMetaVictims.n1');
    expect(answer.metrics).toContain('plimsoll_extender_nodes_total{verdict="removed"} 1');
  });

  test('a node without victims stays, beside one that is left out', async () => {
    const none = { Pods: [], NumPDBViolations: 0 };
    for (const n0 of [none, { Pods: null }, {}, null]) {
      const { body } = await ask(args.replace(JSON.stringify(proposal.n0), JSON.stringify(n0)));
      expect(body).toEqual({ NodeNameToMetaVictims: { n0: none } });
    }
  });

  test('returns the proposal as it is while the cluster has not been read, and counts that', async () => {
    const { body, metrics } = await ask(args, { missing: ['pods'] });
    expect(body).toEqual({ NodeNameToMetaVictims: proposal });
    expect(metrics).toContain('plimsoll_extender_undecided_total{verb="preempt",reason="Unsynced"} 1');
  });

  test('refuses protected victims also while more requests are open than it may decide, and counts that', async () => {
    const { url, metrics } = await start({ maxRequests: 1 });
    const held = request(`${url}/preempt`, { method: 'POST', headers: { 'content-length': args.length } });
    held.on('error', () => undefined);
    held.write(args.slice(0, 10));
    await eventually(async () => {
      const answer = await fetch(`${url}/preempt`, { method: 'POST', body: args });
      expect(await answer.json()).toEqual({ NodeNameToMetaVictims: { n0: proposal.n0 } });
      expect(await metrics.text()).toMatch(/undecided_total\{verb="preempt",reason="Overloaded"\} [1-9]/);
    }, 5_000);
    held.destroy();
  });

  test('by a stale view it vetoes only protected pods that it knows, and counts that', async () => {
    const unknown = { Pods: [{ UID: 'uid-new' }], NumPDBViolations: 0 };
    const proposed = JSON.stringify({ Pod, NodeNameToMetaVictims: { ...proposal, n2: unknown } });
    const { body, metrics } = await ask(proposed, { isStale: true });
    expect(body).toEqual({ NodeNameToMetaVictims: { n0: proposal.n0, n2: unknown } });
    expect(metrics).toContain('plimsoll_extender_undecided_total{verb="preempt",reason="Stale"} 1');
    expect(metrics).toContain('plimsoll_extender_nodes_total{verdict="removed"} 1');
  });

  test.each<[string, object]>([
    ['', Pod],
    ['with a claim that is not modelled', { ...Pod, spec: { ...Pod.spec, resourceClaims: [{ name: 'gpu' }] } }],
  ])('tells a pod %s on which nodes there are only pods that opted out, and names none of those', async (_, pod) => {
    const only = JSON.stringify({ Pod: pod, NodeNameToMetaVictims: { n1: proposal.n1 } });
    expect((await ask(only)).recorded).toMatchObject([
      {
        regarding: { kind: 'Pod', namespace: 'default', name: 'incoming', uid: 'u' },
        reason: 'PreemptionRefused',
        note: 'kube-scheduler would preempt pods that opted out of preemption, on each node that it proposes: n1',
      },
    ]);
    const both = JSON.stringify({ Pod: pod, NodeNameToMetaVictims: proposal });
    expect((await ask(both)).recorded).toEqual([]);
  });

  describe('where it would continue a loop of two owners (S0-21)', () => {
    const looping = { ...Pod, metadata: { ...Pod.metadata, name: 'a' } };
    const Pods = [{ UID: 'uid-b' }];
    const proposed = JSON.stringify({ Pod: looping, NodeNameToMetaVictims: { n0: { Pods, NumPDBViolations: 0 } } });
    const others = [buildPod({ name: 'b', node: 'n0', priority: 5, requests: { cpu: '1' } })];
    const note = 'pods of default/Pod/a and default/Pod/b displace each other: 3 times within 60 min, last on node n0';

    test.each<[string, PreemptionLoops, readonly string[], readonly string[]]>([
      ['the node is taken away and both are named', loopsAfter(3), [], [note]],
      ['a dry run names both, and keeps the node', loopsAfter(3, 'DryRun'), ['n0'], [`${note} (dry run)`]],
      ['one round earlier the node stays', loopsAfter(2), ['n0'], []],
      ['it stays where loops are not looked for', loopsAfter(3, 'Off'), ['n0'], []],
    ])('%s', async (_, loops, left, notes) => {
      const { body, recorded, metrics } = await ask(proposed, { loops, others });
      expect(Object.keys((body as { NodeNameToMetaVictims: object }).NodeNameToMetaVictims)).toEqual(left);
      expect(recorded.map((event) => event.note)).toEqual(notes);
      const counted = /loops_total\{mode="\w+"\} (?<count>\d)/.exec(metrics)?.groups?.['count'];
      expect(Number(counted ?? 0)).toBe(notes.length);
    });

    test('the Event is about the pending pod, and names the other one', async () => {
      const { recorded } = await ask(proposed, { loops: loopsAfter(3), others });
      expect(recorded).toMatchObject([
        {
          regarding: { kind: 'Pod', namespace: 'default', name: 'a', uid: 'u' },
          related: { kind: 'Pod', namespace: 'default', name: 'b', uid: 'uid-b' },
          type: 'Warning',
          reason: 'PreemptionLoopDetected',
        },
      ]);
    });
  });

  test('refuses more bytes of bodies at once than four of the largest', async () => {
    const { url } = await start({ bodyLimitBytes: 1_000 });
    const holders = Array.from({ length: 4 }, () => {
      const held = request(`${url}/preempt`, { method: 'POST', headers: { 'content-length': 1_000 } });
      held.on('error', () => undefined);
      held.write('x'.repeat(999));
      return held;
    });
    await eventually(async () => {
      expect((await fetch(`${url}/filter`, { method: 'POST', body: 'x'.repeat(900) })).status).toBe(503);
    }, 5_000);
    for (const held of holders) held.destroy();
  });

  test('bodies that wait for their turn count among those that it holds', async () => {
    let isReleased = false;
    const verb: Verb = function* () {
      while (!isReleased) yield;
      return { ok: true, json: '{}' };
    };
    const log = createLog({ component: 'test', level: 'silent', format: 'json' });
    const metrics = createMetrics('test');
    const shared = { verbs: new Map([['/slow', verb]]), bodyLimitBytes: 1_000, maxRequests: 16, log, metrics };
    const server = await serve({
      handler: extenderListener({ ...shared, clock: systemClock }),
      host: '127.0.0.1',
      port: 0,
    });
    const body = JSON.stringify('x'.repeat(998));
    const askSlow = async () => (await fetch(`${server.url}/slow`, { method: 'POST', body })).status;
    const asked = Array.from({ length: 5 }, askSlow);
    expect(await Promise.race(asked)).toBe(503);
    isReleased = true;
    expect((await Promise.all(asked)).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 503]);
    expect(await askSlow()).toBe(200);
    await server.close();
  });

  test('says what it cannot read', async () => {
    const unreadable = JSON.stringify({ Pod, NodeNameToMetaVictims: { n0: { Pods: 7 } } });
    const error = 'cannot read NodeNameToMetaVictims.n0.Pods: expected a list, got 7';
    expect(await ask(unreadable)).toMatchObject({ status: 400, body: { error } });
  });

  test.each<[string, string, number]>([
    ['no JSON', '{', 400],
    ['too much', TOO_MUCH, 413],
  ])('%s is refused', async (_, body, status) => {
    expect((await ask(body, { bodyLimitBytes: 1000, path: '/filter' })).status).toBe(status);
  });

  test('too much allows no preemption: after an error kube-scheduler would preempt protected pods', async () => {
    const { status, body } = await ask(TOO_MUCH, { bodyLimitBytes: 1000 });
    expect([status, body]).toEqual([200, { NodeNameToMetaVictims: {} }]);
  });

  test('another path is not found', async () => {
    expect((await ask(args, { path: '/bind' })).status).toBe(404);
  });
});

const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs', controller: true };
const replacement = { metadata: { ...Pod.metadata, ownerReferences: [OWNER] }, spec: Pod.spec };
const key = { namespace: 'default', kind: 'ReplicaSet', name: 'web', uid: 'rs' };
const avoided = (isHard: boolean): NodePressureFacts => ({
  node: 'n0',
  observedAt: undefined,
  isEnforced: false,
  pressure: undefined,
  overRequest: new Set(),
  evicting: new Set(),
  avoid: [{ owner: key, until: NOW + 1, isHard }],
});
const items = ['n0', 'n1'].map((name) => ({ metadata: { name }, status: { kept: true } }));
const REASON = 'Plimsoll: a pod of the same owner was evicted from the node';

describe('POST /filter', () => {
  const byName = JSON.stringify({ Pod: replacement, Nodes: null, NodeNames: ['n0', 'n1'] });
  const NOTHING_FAILED = { FailedNodes: {}, FailedAndUnresolvableNodes: {}, Error: '' };

  test('leaves out a node that is forbidden to the owner, and says why', async () => {
    const { body, metrics } = await ask(byName, { path: '/filter', pressures: [avoided(true)] });
    const FailedAndUnresolvableNodes = { n0: REASON };
    expect(body).toEqual({ ...NOTHING_FAILED, Nodes: null, NodeNames: ['n1'], FailedAndUnresolvableNodes });
    expect(metrics).toContain('plimsoll_extender_forbidden_nodes_total{reason="OwnerAvoided"} 1');
  });

  test('leaves out a node that is only unwanted, and lets kube-scheduler preempt there', async () => {
    const { body } = await ask(byName, { path: '/filter', pressures: [avoided(false)] });
    expect(body).toEqual({ ...NOTHING_FAILED, Nodes: null, NodeNames: ['n1'], FailedNodes: { n0: REASON } });
  });

  test('decides also by a stale view of pods, because a NodePressure carries its own times', async () => {
    const { body, metrics } = await ask(byName, { path: '/filter', pressures: [avoided(true)], isStale: true });
    expect(body).toMatchObject({ NodeNames: ['n1'] });
    expect(metrics).not.toContain('verb="filter",reason="Stale"');
  });

  test('returns whole nodes as they came where whole nodes came', async () => {
    const whole = JSON.stringify({ Pod: replacement, Nodes: { items }, NodeNames: null });
    const { body } = await ask(whole, { path: '/filter', pressures: [avoided(true)] });
    expect(body).toMatchObject({ Nodes: { items: [items[1]] }, NodeNames: null });
  });

  test.each<[string, Asking]>([
    ['where nothing speaks against them', {}],
    ['while the cluster has not been read', { pressures: [avoided(true)], missing: ['nodes'] }],
  ])('leaves all nodes %s', async (_, asking) => {
    const { body } = await ask(byName, { path: '/filter', ...asking });
    expect(body).toEqual({ ...NOTHING_FAILED, Nodes: null, NodeNames: ['n0', 'n1'] });
  });

  test.each<[string, object, string]>([
    ['NodeNames', { NodeNames: [7] }, 'NodeNames[0]: expected a text, got 7'],
    ['Nodes', { Nodes: { items: [{ metadata: 7 }] } }, 'Nodes.items[0].metadata: expected an object, got 7'],
  ])('names a field that it cannot read: %s', async (_, args, error) => {
    const { status, body } = await ask(JSON.stringify({ Pod, ...args }), { path: '/filter' });
    expect([status, body]).toEqual([400, { error: `cannot read ${error}` }]);
  });
});

describe('POST /prioritize', () => {
  const byName = JSON.stringify({ Pod: replacement, Nodes: null, NodeNames: ['n0', 'n1'] });

  test.each<[string, Asking, readonly number[]]>([
    ['a node that the owner should avoid no score', { pressures: [avoided(false)] }, [0, 10]],
    ['all nodes the same where nothing speaks against them', {}, [10, 10]],
    ['no node a score while the cluster has not been read', { missing: ['nodes'] }, [0, 0]],
  ])('gives %s', async (_, asking, scores) => {
    const { body } = await ask(byName, { path: '/prioritize', ...asking });
    expect(body).toEqual(['n0', 'n1'].map((Host, index) => ({ Host, Score: scores[index] })));
  });
});
