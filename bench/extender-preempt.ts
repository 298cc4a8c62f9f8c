/**
 * How long the extender takes to answer kube-scheduler about a preemption: 500 proposed nodes with 4 or 30 victims each,
 * of 30 pods on a node, over HTTP on loopback with client and server in one process. `guarded` is the share of nodes on
 * which a victim opted out, so that other victims must be found. JSON on stdout, milliseconds per request.
 */
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { serve } from '#shared/http/serve.ts';
import type { AnnotatedClass } from '#shared/kube/decode/decode-priority-class.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { extenderApp } from '#scheduler/extender/extender-app.ts';
import { preemptionRules } from '#scheduler/extender/preemption-rules.ts';
import { buildNode, buildPod } from '#test/build/cluster.ts';

const NODES = 500;
const PODS_PER_NODE = 30;
const WARM_UP = 20;
const ROUNDS = 200;
const CASES = [
  { victims: 4, guarded: 0 },
  { victims: 30, guarded: 0 },
  { victims: 4, guarded: 0.1 },
] as const;

const OPTED_OUT = { annotations: new Map([['plimsoll.dev/allow-preemption', 'false']]) } as unknown as AnnotatedClass;

function nameOf(node: number, pod: number): string {
  return `pod-${node}-${pod}`;
}

function clusterOf(guarded: number) {
  const nodes = Array.from({ length: NODES }, (_, node) =>
    buildNode({ name: `node-${node}`, allocatable: { cpu: '30', memory: '64Gi' } }),
  );
  const pods = nodes.flatMap((_, node) =>
    Array.from({ length: PODS_PER_NODE }, (_, pod) => {
      const priorityClassName = pod === 0 && node < NODES * guarded ? 'stays' : 'goes';
      const requests = { cpu: '1', memory: '1Gi' };
      const spec = { priorityClassName };
      return buildPod({ name: nameOf(node, pod), node: `node-${node}`, priority: pod, requests, spec });
    }),
  );
  return createSnapshot({ nodes, pods });
}

function bodyOf(victims: number): string {
  const uids = (node: number) => Array.from({ length: victims }, (_, pod) => ({ UID: `uid-${nameOf(node, pod)}` }));
  const proposed = Array.from({ length: NODES }, (_, node): [string, object] => [
    `node-${node}`,
    { Pods: uids(node), NumPDBViolations: 0 },
  ]);
  const resources = { requests: { cpu: String(victims), memory: '1Gi' } };
  const spec = { priority: 1_000, containers: [{ name: 'main', resources }] };
  const Pod = { metadata: { name: 'incoming', namespace: 'default', uid: 'incoming' }, spec };
  return JSON.stringify({ Pod, NodeNameToVictims: null, NodeNameToMetaVictims: Object.fromEntries(proposed) });
}

async function measure({ victims, guarded }: (typeof CASES)[number]) {
  const handler = extenderApp({
    snapshot: clusterOf(guarded),
    missing: () => [],
    rules: preemptionRules('BestEffort', (name) => (name === 'stays' ? OPTED_OUT : undefined)),
    bodyLimitBytes: 16 * 1024 * 1024,
    log: createLog({ component: 'bench', level: 'silent', format: 'json' }),
    metrics: createMetrics('bench'),
  });
  const server = await serve({ handler, host: '127.0.0.1', port: 0 });
  const body = bodyOf(victims);
  const headers = { 'content-type': 'application/json' };
  const times: number[] = [];
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const start = performance.now();
    const answer = await fetch(`${server.url}/preempt`, { method: 'POST', headers, body });
    const text = await answer.text();
    if (round >= 0) times.push(performance.now() - start);
    if (answer.status !== 200 || !text.includes('node-0')) throw new Error(`answered ${answer.status}: ${text}`);
  }
  await server.close();
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => Number((sorted[Math.floor(sorted.length * share)] ?? NaN).toFixed(2));
  return { victims, guarded, bodyKiB: Math.round(body.length / 1_024), p50Ms: at(0.5), p99Ms: at(0.99) };
}

const results: unknown[] = [];
for (const each of CASES) results.push(await measure(each));
console.log(
  JSON.stringify({ bench: 'extender-preempt', nodes: NODES, podsPerNode: PODS_PER_NODE, results }, undefined, 2),
);
