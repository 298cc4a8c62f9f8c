import { afterEach, describe, expect, test } from 'vitest';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { serve, type Server } from '#shared/http/serve.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { extenderApp } from '#scheduler/extender/extender-app.ts';
import { preemptionRules } from '#scheduler/extender/preemption-rules.ts';
import { buildNode, buildPod } from '#test/build/cluster.ts';

const SPARED = { name: 'spared', value: 5, annotations: new Map([['plimsoll.dev/allow-preemption', 'false']]) };
const nodes = ['n0', 'n1'].map((name) => buildNode({ name, allocatable: { cpu: '1', memory: '4Gi' } }));
const pods = [
  buildPod({ name: 'ordinary', node: 'n0', priority: 10, requests: { cpu: '1' } }),
  buildPod({
    name: 'opted-out',
    node: 'n1',
    priority: 5,
    requests: { cpu: '1' },
    spec: { priorityClassName: 'spared' },
  }),
];
const Pod = {
  metadata: { name: 'incoming', namespace: 'default', uid: 'u' },
  spec: { priority: 100, containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] },
};
const proposal = {
  n0: { Pods: [{ UID: 'uid-ordinary' }], NumPDBViolations: 0 },
  n1: { Pods: [{ UID: 'uid-opted-out' }], NumPDBViolations: 0 },
};

let server: Server | undefined;
afterEach(() => server?.close());

async function ask(body: string, { missing = [] as readonly string[], bodyLimitBytes = 100_000 } = {}) {
  const handler = extenderApp({
    snapshot: createSnapshot({ nodes, pods }),
    missing: () => missing,
    rules: preemptionRules('BestEffort', (name) => (name === 'spared' ? (SPARED as never) : undefined)),
    bodyLimitBytes,
    log: createLog({ component: 'test', level: 'silent', format: 'json' }),
    metrics: createMetrics('test'),
  });
  server = await serve({ handler, host: '127.0.0.1', port: 0 });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${server.url}/preempt`, { method: 'POST', headers, body });
  return { status: answer.status, body: await answer.json() };
}

describe('POST /preempt', () => {
  test('answers with the nodes where no protected pod would go', async () => {
    const args = JSON.stringify({ Pod, NodeNameToVictims: null, NodeNameToMetaVictims: proposal });
    expect(await ask(args)).toEqual({ status: 200, body: { NodeNameToMetaVictims: { n0: proposal.n0 } } });
  });

  test('returns the proposal as it is while the cluster has not been read', async () => {
    const args = JSON.stringify({ Pod, NodeNameToMetaVictims: proposal });
    expect(await ask(args, { missing: ['pods'] })).toEqual({ status: 200, body: { NodeNameToMetaVictims: proposal } });
  });

  test('says what it cannot read', async () => {
    const args = JSON.stringify({ Pod, NodeNameToMetaVictims: { n0: { Pods: 7 } } });
    const error = 'cannot read NodeNameToMetaVictims.n0.Pods: expected a list, got 7';
    expect(await ask(args)).toEqual({ status: 400, body: { error } });
  });

  test.each<[string, string, number]>([
    ['no JSON', '{', 400],
    ['too much', JSON.stringify({ Pod: 'x'.repeat(2000) }), 413],
  ])('%s is refused', async (_, body, status) => {
    expect((await ask(body, { bodyLimitBytes: 1000 })).status).toBe(status);
  });
});
