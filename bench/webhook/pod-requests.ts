/**
 * How long it takes to turn a pod into numbers: its wire form decoded, and requests, limits, QoS class and quota charge
 * computed from the decoded pod. JSON on stdout, microseconds for one pod, median of rounds.
 */
import { podLimits, podRequests, SCHEDULER_VIEW, qosClass } from '#shared/domain/pod/pod-requests.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { quantityMilliNumber, quantityNumber, ZERO } from '#shared/domain/quantity/quantity.ts';
import { charge } from '#shared/domain/quota/charge.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { median, rounded } from '#bench/shared/support/quantile.ts';

const GOAL = { podToNumbers: 10 };
const BATCH = 2_000;
const ROUNDS = 51;

/** A pod of two containers; `index` keeps its texts from being the same object. */
function wirePod(index: number): unknown {
  const container = (name: string, cpu: string, memory: string) => ({
    name,
    image: 'registry.example/app:1',
    resources: { requests: { cpu, memory }, limits: { cpu, memory: '1Gi' } },
    volumeMounts: [{ name: 'token', mountPath: '/var/run/secrets', readOnly: true }],
    terminationMessagePath: '/dev/termination-log',
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `web-7d9f8b-${index}`,
      namespace: 'team-a',
      uid: `7c9e6679-7425-40de-944b-${index}`,
      labels: { app: 'web', 'pod-template-hash': '7d9f8b' },
      creationTimestamp: '2026-01-01T00:00:00Z',
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-7d9f8b', uid: 'u', controller: true }],
    },
    spec: {
      nodeName: 'node-1',
      priority: 1000,
      containers: [container('app', '250m', '512Mi'), container('proxy', '100m', '64Mi')],
      volumes: [{ name: 'token', projected: { sources: [] } }],
      tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
    },
    status: { phase: 'Running', startTime: '2026-01-01T00:00:05Z', conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

function decoded(raw: unknown): Pod {
  const result = decodePod(raw);
  if (!result.ok) throw new Error(`cannot decode the pod of the benchmark: ${result.field}: ${result.message}`);
  return result.value;
}

/** What scheduling and ranking read: milli of cpu and bytes of memory. */
function numbersOf(pod: Pod): readonly number[] {
  const requests = podRequests(pod, SCHEDULER_VIEW);
  const limits = podLimits(pod, SCHEDULER_VIEW);
  return [requests, limits].flatMap((amounts) => [
    quantityMilliNumber(amounts.get('cpu') ?? ZERO),
    quantityNumber(amounts.get('memory') ?? ZERO),
  ]);
}

function microseconds(call: (index: number) => unknown): number {
  const times: number[] = [];
  let kept: unknown;
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    for (let index = 0; index < BATCH; index += 1) kept = call(index);
    times.push(((performance.now() - start) * 1000) / BATCH);
  }
  if (kept === undefined) throw new Error('the benchmark computed nothing');
  return rounded(median(times), 2);
}

const raw = Array.from({ length: BATCH }, (_, index) => wirePod(index));
const pods = raw.map(decoded);
const podAt = (index: number) => pods[index] as Pod;

const microsecondsPerPod = {
  podToNumbers: microseconds((index) => numbersOf(podAt(index))),
  decode: microseconds((index) => decoded(raw[index])),
  decodeToNumbers: microseconds((index) => numbersOf(decoded(raw[index]))),
  qosClass: microseconds((index) => qosClass(podAt(index))),
  quotaCharge: microseconds((index) => charge(podAt(index), 0)),
};
const isMet = microsecondsPerPod.podToNumbers <= GOAL.podToNumbers;
process.stdout.write(`${JSON.stringify({ bench: 'pod-requests', microsecondsPerPod, goal: GOAL, isMet }, null, 2)}\n`);
