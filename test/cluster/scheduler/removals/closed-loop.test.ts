import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeAccount } from '#shared/api/disruption-account.ts';
import { decodeDisruption } from '#shared/api/disruption.ts';
import type { Cause } from '#shared/domain/disruption/disruption.ts';
import { itemsOf } from '#shared/kube/decode/wire-object.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { endTerminatedPods } from '#test/cluster/support/end-terminated-pods.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { installShippedSet } from '#test/cluster/support/shipped-set.ts';
import { at, textAt, type WatchLine } from '#test/contract/harness.ts';
import { PATIENCE_MS, podPath, RECORDS, removalScene } from '#test/cluster/scheduler/removal-scene.ts';
import { auditedCauses } from './audited-causes.ts';
import { killedProcesses } from './killed-processes.ts';
import { type RemovalHistory, removalMistakes, type RemovedPod } from './removal-history.ts';
import { NODE_COUNT, NODES, removalKinds } from './removal-kinds.ts';
import { followLines } from './watch-lines.ts';

/** For a long run: `PLIMSOLL_REMOVALS=600 PLIMSOLL_KILLS=20`. */
const REMOVALS = Number(process.env['PLIMSOLL_REMOVALS'] ?? 100);
const KILLS = Number(process.env['PLIMSOLL_KILLS'] ?? 4);
const BURST = 30;
const PACE_MS = 500;
/** A new leader takes over after the lease of the one that was killed has run out. */
const SETTLED_WITHIN_MS = 90_000;
const WITHIN_MS = 240_000 + REMOVALS * 4_000;
const LIMIT = { max: 14, windowMs: 10_000 };
/** Reclaim and Rescheduling are evictions like that of the agent, with a reporter of their own. */
const CAUSES: readonly Cause[] = [
  ...(['Preemption', 'Eviction', 'KubeletEviction', 'Drain', 'Taint'] as const),
  ...(['Deletion', 'OOMKill', 'NodeLost', 'Unknown'] as const),
];
const why = whyNoOwnCluster(process.env);

/** Kubernetes itself removes the pods; what happened is read from its watches and its audit log. */
describe.skipIf(why !== undefined)(`removals while processes are killed${why ?? ''}`, () => {
  const own = ownCluster();
  const ended = new AbortController();
  const [pods, accounts]: [WatchLine[], WatchLine[]] = [[], []];
  const { send } = removalScene(own);
  const kinds = removalKinds(own);
  let processes: Awaited<ReturnType<typeof killedProcesses>> | undefined;
  let running: Promise<unknown> | undefined;

  beforeAll(async () => {
    const { admin } = own();
    await installShippedSet(own());
    const labels = { 'plimsoll.dev/disruption-limits': 'enforced' };
    await send('PATCH', '/api/v1/namespaces/default', { metadata: { labels } });
    for (const [name, value] of [['low', 10] as const, ['high', 1_000] as const])
      await send('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name }, value });
    await makeFakeNodes(admin, 'node', NODE_COUNT);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(NODE_COUNT), PATIENCE_MS);
    const spec = { selector: { matchLabels: { app: 'web' } }, limits: [{ max: LIMIT.max, window: '10s' }] };
    const head = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'DisruptionLimit', metadata: { name: 'web' } };
    await send('POST', `${RECORDS}/namespaces/default/disruptionlimits`, { ...head, spec });
    const followed = await Promise.all([
      followLines(admin, podPath(), pods, ended.signal),
      followLines(admin, `${RECORDS}/namespaces/default/disruptionaccounts`, accounts, ended.signal),
    ]);
    processes = await killedProcesses(own());
    running = Promise.all([endTerminatedPods(admin, ended.signal), ...followed.map(({ following }) => following)]);
    await kinds.open();
  }, 180_000);
  afterAll(async () => {
    ended.abort();
    await Promise.all([running, processes?.stop()]);
  });

  async function history(): Promise<RemovalHistory> {
    const listed = await send('GET', `${RECORDS}/namespaces/default/disruptions`);
    return {
      removed: removedIn(pods, auditedCauses(own().cluster.auditLog, 'default', { ...NODES })),
      records: itemsOf(at(listed, 'items')).flatMap((raw) => decodeDisruption(raw) ?? []),
      accounts: accounts.flatMap(({ object }) => {
        const decoded = decodeAccount(object);
        return decoded.ok ? [decoded.value] : [];
      }),
      limit: LIMIT,
    };
  }

  test(
    'each has one record with its cause and one unit of the account, and no eviction goes beyond the limit (S3-14, S3-16)',
    async () => {
      await kinds.loseNodes();
      await Promise.all([removeAll(), killAll()]);
      await settled();
      await kinds.burst(BURST);
      await kinds.lostPodsGone();
      const over = await settled();
      console.log(summaryOf(over), kinds.answers);
      expect(over.removed.size).toBeGreaterThanOrEqual(REMOVALS);
      expect(Math.min(kinds.answers.passed, kinds.answers.refused)).toBeGreaterThan(0);
      expect(new Set(Array.from(over.removed.values(), ({ cause }) => cause))).toEqual(new Set(CAUSES));
      expect(over.records.some(({ outcome }) => outcome.others.length > 0)).toBe(true);
    },
    WITHIN_MS,
  );

  const settled = () =>
    eventually(async () => {
      const found = await history();
      expect(removalMistakes(found)).toEqual([]);
      return found;
    }, SETTLED_WITHIN_MS);

  async function killAll(): Promise<void> {
    for (let turn = 0; turn < KILLS; turn += 1) {
      await letTimePass(pauseMs(), 'load');
      await processes?.killNext(turn);
    }
  }

  async function removeAll(): Promise<void> {
    while (removedIn(pods, new Map()).size < REMOVALS - BURST) {
      const next = systemClock.monotonic() + PACE_MS;
      await kinds.next();
      await letTimePass(restMs(next), 'load');
    }
  }
});

function restMs(next: number): number {
  return Math.max(0, next - systemClock.monotonic());
}

/** The kills are spread over the time that the removals take. */
function pauseMs(): number {
  return (REMOVALS * PACE_MS) / Math.max(1, KILLS);
}

/** Pods that were on a node and terminate, have failed or are gone. */
function removedIn(lines: readonly WatchLine[], causes: RemovedCauses): ReadonlyMap<string, RemovedPod> {
  const removed = new Map<string, RemovedPod>();
  for (const { type, object } of lines) {
    const isOver = type === 'DELETED' || at(object, 'metadata.deletionTimestamp') !== undefined;
    if (at(object, 'spec.nodeName') === undefined || !(isOver || at(object, 'status.phase') === 'Failed')) continue;
    const name = textAt(object, 'metadata.name');
    removed.set(textAt(object, 'metadata.uid'), { name, cause: causes.get(name) });
  }
  return removed;
}

type RemovedCauses = ReturnType<typeof auditedCauses>;

function summaryOf({ removed, accounts, records }: RemovalHistory): string {
  const causes = Map.groupBy(removed.values(), ({ cause }) => cause);
  const counts = Array.from(causes, ([cause, of]) => `${of.length} ${cause}`).join(', ');
  return `removals: ${removed.size} (${counts}); ${records.length} records, ${accounts.length} revisions of the account`;
}
