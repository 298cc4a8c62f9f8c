/** What one review costs by pieces, without a network: each on the 6 KB pod of the other benchmarks. JSON on stdout. */
import { crc32 } from 'node:zlib';
import { decideValidation } from '#shared/domain/admission/decide-validation.ts';
import { type ClusterState, NO_KNOWN_PODS } from '#shared/domain/admission/cluster-state.ts';
import type { PriorityClass } from '#shared/domain/priority/classes-and-policies.ts';
import { decodePodRequest } from '#shared/kube/decode/decode-pod-request.ts';
import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import { decodeResourceQuota } from '#shared/kube/decode/decode-objects.ts';
import { QUOTA_LABEL, QUOTA_NAMESPACES } from '#shared/kube/admission/judged-namespaces.ts';
import { LABEL_PRIORITY_QUOTA, PRIORITY_QUOTA_ENFORCED } from '#shared/kube/api-names.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { cpuSeconds } from '#bench/shared/support/cpu-seconds.ts';
import { median, rounded } from '#bench/shared/support/quantile.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { decodeReview, encodeReview } from '#webhook/server/admission-review.ts';
import { advanceScan, startScan, UNREAD_IN_PODS } from '#webhook/request-body/review-scan.ts';
import { createReviewMetrics } from '#webhook/server/review-metrics.ts';
import { BENCH_POLICY, BENCH_QUOTA, validateBody } from './served/rig.ts';

const BLOCKS = 15;
const ROUNDS = 2_000;
const WARM_UP = 10_000;

function expectDecoded<T>(decoded: Decoded<T>): T {
  if (decoded.ok) return decoded.value;
  throw new Error(`${decoded.field}: ${decoded.message}`);
}

function priorityClass(name: string, value: number): readonly [string, PriorityClass] {
  return [name, { name, uid: name, value, isGlobalDefault: false, preemptionPolicy: 'PreemptLowerPriority' }];
}

const quotas = [expectDecoded(decodeResourceQuota(BENCH_QUOTA))];
const world: ClusterState = {
  now: Date.now(),
  classes: new Map([priorityClass('high', 1_000), priorityClass('standard', 100), priorityClass('batch', 10)]),
  policies: [expectDecoded(decodePriorityPolicy(BENCH_POLICY))],
  priorityQuotas: [],
  namespaceNames: () => ['team-a'],
  namespaceLabels: () =>
    new Map([
      ['kubernetes.io/metadata.name', 'team-a'],
      [LABEL_PRIORITY_QUOTA, PRIORITY_QUOTA_ENFORCED],
    ]),
  resourceQuotas: () => quotas,
  quotaNamespaces: QUOTA_NAMESPACES,
  quotaLabel: QUOTA_LABEL,
  knownPods: NO_KNOWN_PODS,
};
const received = Buffer.from(validateBody());
const bytes = Buffer.from(received);
const log = createLog({ component: 'bench', level: 'info', format: 'json' });
const metrics = createReviewMetrics(createMetrics('webhook'), log);

/** Each time as it was received: the scan empties lists. */
function scan(): void {
  received.copy(bytes);
  advanceScan(startScan({ depth: 200, values: 100_000 }, UNREAD_IN_PODS), bytes, bytes.length);
}

function parse(): unknown {
  return JSON.parse(bytes.toString('utf8'));
}

function decode() {
  const decoded = decodeReview(json, { answerBy: 0, heldBytes: 0 });
  if (decoded.kind !== 'review') throw new Error('no review');
  const { request, object } = decoded.review;
  return { request, object, pod: expectDecoded(decodePodRequest(object, request.requester, request.namespace)) };
}

scan();
const json = parse();
const { request, object, pod } = decode();
const decision = decideValidation(pod, world);
if (decision.kind !== 'allowed') throw new Error(decision.because.text);

const pieces: Record<string, () => unknown> = {
  scanUs: scan,
  fingerprintUs: () => crc32(received),
  parseUs: parse,
  decodeUs: decode,
  decideUs: () => decideValidation(pod, world),
  encodeUs: () => encodeReview(request.uid, decision, object),
  countUs: () => {
    metrics.decided('/validate', request, decision, 0.2);
    metrics.answered('/validate', 200);
  },
};

/** Microseconds of CPU, garbage collection included: the median of blocks. */
function measure(piece: () => unknown): number {
  for (let round = 0; round < WARM_UP; round += 1) piece();
  const blocks = Array.from({ length: BLOCKS }, () => {
    const before = cpuSeconds();
    for (let round = 0; round < ROUNDS; round += 1) piece();
    return ((cpuSeconds() - before) * 1e6) / ROUNDS;
  });
  return rounded(median(blocks), 2);
}

const costs = Object.fromEntries(Object.entries(pieces).map(([name, piece]) => [name, measure(piece)]));
const allUs = rounded(
  Object.values(costs).reduce((sum, cost) => sum + cost, 0),
  2,
);
console.log(JSON.stringify({ bodyBytes: bytes.length, ...costs, allUs }, undefined, 2));
