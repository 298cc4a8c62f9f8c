import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { askExtender } from '#sandbox/scheduler/ask-extender.ts';
import { planPreemption } from '#shared/domain/placement/plan/plan-preemption.ts';
import type { NodeCandidate } from '#shared/domain/placement/victims/choose-node.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { createLog } from '#shared/runtime/log.ts';
import { buildNode, buildPod } from '#test/build/cluster.ts';

const node = buildNode({ name: 'n0', allocatable: { cpu: '4', memory: '1Gi', pods: '110' } });
const lowest = buildPod({ name: 'lowest', node: 'n0', priority: -2, requests: { cpu: '2' }, startedAt: 1 });
const low = buildPod({ name: 'low', node: 'n0', priority: -1, requests: { cpu: '2' }, startedAt: 1 });
const pending = buildPod({ name: 'pending', priority: 5, requests: { cpu: '2' } });
const snapshot = createSnapshot({ nodes: [node], pods: [lowest, low, pending] });
const plan = planPreemption(snapshot, pending);
const proposed = plan.kind === 'preempt' ? plan.candidates : [];
const raw = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pending', uid: 'uid-pending' } };
const TIMEOUT_MS = 250;

let server: Server | undefined;
const lines: string[] = [];
const log = createLog({
  component: 'test',
  level: 'warn',
  format: 'json',
  destination: { write: (line) => void lines.push(line) },
});

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  lines.length = 0;
});

async function listen(answer: RequestListener): Promise<string> {
  const started = createServer(answer).listen(0, '127.0.0.1');
  server = started;
  await new Promise((resolve) => started.once('listening', resolve));
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
}

function ask(url: string | undefined): Promise<readonly NodeCandidate[]> {
  const find = (_node: string, uid: string) => snapshot.placedPods.get(uid);
  return askExtender({ url: () => url, timeoutMs: TIMEOUT_MS, log }, { pod: raw, candidates: proposed, find });
}

/** A candidate in a few words. */
function inShort(candidates: readonly NodeCandidate[]): readonly string[] {
  return candidates.map(({ node: name, victims }) => `${name}: ${victims.map(({ pod }) => pod.name).join(', ')}`);
}

function answering(body: string, status = 200): RequestListener {
  return (request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };
}

function victims(...uids: readonly string[]): string {
  const Pods = uids.map((UID) => ({ UID }));
  return JSON.stringify({ NodeNameToMetaVictims: { n0: { Pods, NumPDBViolations: 1 } } });
}

describe('askExtender', () => {
  test('sends ExtenderPreemptionArgs of an extender with its own copy of the pods', async () => {
    let seen: unknown;
    const url = await listen((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen = [request.method, request.url, JSON.parse(Buffer.concat(chunks).toString('utf8'))];
        response.end(victims('uid-lowest'));
      });
    });
    await ask(url);
    const byNode = { n0: { Pods: [{ UID: 'uid-lowest' }], NumPDBViolations: 0 } };
    const args = { Pod: raw, NodeNameToVictims: null, NodeNameToMetaVictims: byNode };
    expect(seen).toEqual(['POST', '/preempt', args]);
  });

  test('takes the victims that the extender names, with what choosing a node asks about them', async () => {
    const [changed] = await ask(await listen(answering(victims('uid-low'))));
    expect(changed).toMatchObject({ node: 'n0', budgetViolations: 1, topPriority: -1, prioritySum: 2 ** 31 - 1 });
    expect(changed?.victims.map(({ pod }) => pod.name)).toEqual(['low']);
    expect(lines).toEqual([]);
  });

  test('leaves out what the extender leaves out, and a node without victims', async () => {
    expect(await ask(await listen(answering('{"NodeNameToMetaVictims":{}}')))).toEqual([]);
    server?.close();
    expect(await ask(await listen(answering(victims())))).toEqual([]);
  });

  test('without an extender the candidates stay as they are', async () => {
    expect(inShort(await ask(undefined))).toEqual(['n0: lowest']);
  });

  test.each<[string, RequestListener]>([
    ['is no JSON', answering('<html>')],
    ['is JSON of another shape', answering('{"items":[]}')],
    ['names a pod that the node does not have', answering(victims('uid-of-no-pod'))],
    ['holds null for a node', answering('{"NodeNameToMetaVictims":{"n0":{"Pods":[null]}}}')],
    ['is an error', answering('{}', 500)],
    ['breaks off', (request) => void request.socket.destroy()],
    ['does not come in time', (request) => void request.resume()],
    ['never ends', (_request, response) => void response.write('{')],
  ])('an answer that %s is ignored, and said so', async (_what, answer) => {
    expect(inShort(await ask(await listen(answer)))).toEqual(['n0: lowest']);
    expect(lines.join()).toContain('Extender ignored');
  });

  test('an extender that is away is ignored', async () => {
    const url = await listen(answering('{}'));
    server?.close();
    expect(inShort(await ask(url))).toEqual(['n0: lowest']);
  });

  test('an answer without end is not read to its end', async () => {
    const url = await listen((_request, response) => {
      const chunk = Buffer.alloc(1024 * 1024, 32);
      const more = (): unknown => (response.write(chunk) ? setImmediate(more) : response.once('drain', more));
      more();
    });
    expect(inShort(await ask(url))).toEqual(['n0: lowest']);
  });
});
