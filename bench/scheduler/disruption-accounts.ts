/**
 * What limits of disruptions cost the leader of the record: the memory of 5,000 limits and 20,000 removals that are still
 * to be debited, and the longest block of one pass over them. JSON on stdout.
 */
import { loadavg } from 'node:os';
import { decodeDisruptionLimit } from '#shared/api/disruption-limit.ts';
import { encodeAccount } from '#shared/api/disruption-account.ts';
import {
  type Account,
  countRemoval,
  debitEviction,
  MAX_DEBITS,
  type Wanted,
} from '#shared/domain/disruption/account.ts';
import { coveringRules, rulesOf } from '#shared/domain/disruption/disruption-limit.ts';
import { PendingDebits } from '#shared/domain/disruption/pending-debits.ts';
import { decodeWith } from '#shared/kube/reflector/reflector.ts';
import { buildPod } from '#test/build/cluster.ts';

const LIMITS = 5_000;
const REMOVALS = 20_000;
/** As many as one pass takes. */
const MAX_DEBITED = 500;
const NAMESPACES = 1_000;
const HOUR_MS = 3_600_000;
const MIB = 1024 * 1024;
const EVIDENCE = {
  ...{ disruptionTarget: 'EvictionByEvictionAPI', statusReason: undefined, isOomKilled: false, isWitnessed: true },
  ...{ node: undefined, agent: undefined },
};

function heapMiB(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / MIB;
}

function limitObject(index: number): object {
  const metadata = { namespace: `ns-${index % NAMESPACES}`, name: `limit-${index}` };
  const limits = [
    { max: 2, window: '1h' },
    { max: '10%', window: '24h' },
  ];
  return { metadata, spec: { selector: { matchLabels: { app: `app-${index}` } }, limits, minAvailable: '80%' } };
}

function removedPod(index: number) {
  const labels = { app: `app-${index % LIMITS}`, version: `v${index}` };
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: `rs-${index}`,
    uid: `owner-${index}`,
    isController: true,
  };
  return buildPod({
    name: `web-${index}-${'x'.repeat(20)}`,
    namespace: `ns-${index % NAMESPACES}`,
    labels,
    owners: [owner],
  });
}

function measured<T>(work: () => T): readonly [T, number] {
  const start = performance.now();
  const result = work();
  return [result, Math.round((performance.now() - start) * 10) / 10];
}

const decode = decodeWith(decodeDisruptionLimit);
const empty = heapMiB();
const limits = Array.from({ length: LIMITS }, (_, index) => decode(limitObject(index)));
const withLimits = heapMiB();
const pending = new PendingDebits();
for (let index = 0; index < REMOVALS; index += 1)
  pending.see({ pod: removedPod(index), node: 'n', evidence: EVIDENCE, at: 0 });
const withRemovals = heapMiB();
const [byNamespace, groupMs] = measured(() => Map.groupBy(limits, ({ namespace }) => namespace));
const [due, dueMs] = measured(() =>
  pending.due(10_000, { most: MAX_DEBITED, left: new Set(), evidenceOf: () => undefined }),
);
const limitsOf = (namespace: string) => ({ limits: byNamespace.get(namespace) ?? [], budgets: [], policy: undefined });
const [covered, coverMs] = measured(() => due.filter((each) => rulesOf(each, limitsOf(each.namespace)).length > 0));
const rules = coveringRules(removedPod(0), [], limitsOf('ns-0'));
const wanted = (index: number): Wanted => {
  const pod = { uid: `uid-${index}`, pod: `web-${index}`, at: index };
  return { ...pod, component: 'Others', cause: 'Deletion', caller: undefined };
};
const [account, countMs] = measured(() => {
  let full: Account = [];
  for (let index = 0; index < MAX_DEBITS; index += 1) full = countRemoval(full, wanted(index), rules);
  return full;
});
/** As many as share one write of the webhook. */
const BATCH = 32;
const [, debitMs] = measured(() => {
  for (let index = 0; index < BATCH; index += 1)
    debitEviction(account, { ...wanted(MAX_DEBITS + index), at: HOUR_MS - 1 }, rules);
});
console.log(
  JSON.stringify(
    {
      memoryMiB: {
        limits: withLimits - empty,
        removals: withRemovals - withLimits,
        both: withRemovals - empty,
        target: 24,
      },
      blockMs: { group: groupMs, due: dueMs, cover: coverMs, debitBatchOnFullAccount: debitMs, target: 20 },
      fillAccountMs: countMs,
      fullAccountKiB: Math.round(JSON.stringify(encodeAccount(account)).length / 1024),
      covered: covered.length,
      load: loadavg(),
    },
    undefined,
    2,
  ),
);
