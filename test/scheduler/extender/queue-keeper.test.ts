import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import type { ProposedVictims } from '#shared/domain/preemption/proposal/proposal.ts';
import { reviewProposal } from '#shared/domain/preemption/proposal/review-proposal.ts';
import { emptySnapshot, type Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { putNamespace, putNode } from '#shared/domain/snapshot/create-snapshot.ts';
import { sheetOf } from '#shared/domain/snapshot/node-entry.ts';
import { putPod, removePodByKey } from '#shared/domain/snapshot/snapshot-pods.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeNamespace } from '#shared/kube/decode/decode-objects.ts';
import { decodeWith, createStore } from '#shared/kube/reflector/reflector.ts';
import { PodAmounts } from '#shared/decide/queues/queue-charges.ts';
import { templateOf } from '#scheduler/compact-pod.ts';
import { preemptionRules, createQueueKeeper } from '#scheduler/extender/preemption-rules.ts';
import { createPodReader } from '#scheduler/read-pods.ts';
import { decodeStoredQueue, type StoredQueue } from '#scheduler/queues/stored-queue.ts';
import { fixedClasses } from '#test/build/classes.ts';
import { buildNode } from '#test/build/cluster.ts';
import { loopsAfter } from '#test/scheduler/preemptions/loops-after.ts';
import { rawPod, type WatchedPod } from '#test/shared/decide/queues/queue-world.ts';

const RULES = { budgets: 'BestEffort', usageAware: false, tieBreak: 'none' } as const;
const MANAGED = { 'plimsoll.dev/queues': 'managed' };
const onError = (error: unknown): void => expect.unreachable(String(error));
const decode = decodeWith(decodePod);

/** What a Queue guarantees, in CPUs. */
type Queues = Readonly<Record<string, number>>;

/** An extender whose watches show one node of 8 CPUs, and the managed namespace `shop`. */
function world(queues: Queues = { giver: 2, taker: 0 }) {
  const snapshot = emptySnapshot();
  let [now, reads, isStale] = [0, 0, false];
  const namespaces = createStore<Namespace>({ slim: decodeWith(decodeNamespace), onError });
  namespaces.onChange(({ value }) => putNamespace(snapshot, value));
  const stored = createStore<StoredQueue>({ slim: decodeWith(decodeStoredQueue), onError });
  const followed = {
    values: () => {
      reads += 1;
      return stored.values();
    },
    onChange: stored.onChange,
    isSynced: () => true,
    lastContactMs: () => now,
    get size() {
      return stored.size;
    },
  };
  const keeper = createQueueKeeper({
    snapshot,
    namespaces,
    queues: followed,
    isStale: () => isStale,
    amounts: new PodAmounts(templateOf),
    clock: { now: () => 0, monotonic: () => now },
  });
  const rules = preemptionRules(RULES, { classes: fixedClasses([]), loops: loopsAfter(0), queues: keeper });
  const read = createPodReader();
  const manage = (name: string, labels: object = MANAGED): void =>
    namespaces.set({ metadata: { name, labels } } as never);
  const queue = (name: string, cpu: number, generation = 1, max: object = {}): void =>
    stored.set({
      metadata: { name, uid: name, generation },
      spec: { guaranteed: { cpu: String(cpu) }, max, namespaceSelector: {} },
    });
  const see = (pod: WatchedPod): void => {
    const raw = rawPod({ node: 'n0', ...pod });
    const decoded = read(raw);
    putPod(snapshot, decoded);
    keeper.observePod({ pod: decoded, raw, previous: undefined }, snapshot);
  };
  const goes = (name: string): void => {
    removePodByKey(snapshot, `uid-${name}`);
    keeper.observeGone(`uid-${name}`);
  };
  /** kube-scheduler asks for a pod of 4 CPUs; returns the names of the victims that are left, or why there are none. */
  function ask(names: readonly string[], preemptor: Partial<WatchedPod> = {}, node = 'n0') {
    const incoming = { name: 'incoming', priority: 10, cpu: 4, labels: labelOf('taker'), ...preemptor };
    const pod = decode(rawPod(incoming));
    const proposal = [{ node, uids: names.map((name) => `uid-${name}`), budgetViolations: 0 }];
    const [verdict] = reviewProposal(snapshot, { pod, proposal, now: 0 }, rules);
    const left: ProposedVictims[] = verdict === undefined || verdict.kind === 'removed' ? [] : [verdict.victims];
    finish(keeper.note(pod, left));
    if (verdict?.kind === 'removed') return verdict.because.code;
    return left.flatMap(({ uids }) => uids.map((uid) => uid.slice('uid-'.length)));
  }
  for (const name of ['n0', 'n1']) putNode(snapshot, buildNode({ name, allocatable: { cpu: '8' } }));
  manage('shop');
  for (const [name, cpu] of Object.entries(queues)) queue(name, cpu);
  const sheet = () => sheetOf(snapshot.nodes.get('n0') as never);
  return {
    see,
    goes,
    ask,
    manage,
    queue,
    rules,
    sheet,
    whyNotPlaced: (pod: WatchedPod) => keeper.whyNotPlaced(decode(rawPod(pod)))?.code,
    reads: () => reads,
    becomeStale: () => void (isStale = true),
    passMs: (ms: number) => void (now += ms),
    remove: (name: string) => {
      stored.remove({ metadata: { name } });
    },
  };
}

const labelOf = (queue: string) => ({ 'plimsoll.dev/queue': queue });
const giver = (name: string, cpu = 4, more: Partial<WatchedPod> = {}): WatchedPod => ({
  name,
  cpu,
  labels: labelOf('giver'),
  ...more,
});

describe('which preemptions the extender holds to the queues', () => {
  test('a queue at its guarantee loses no pod, one above it does', () => {
    const { see, ask } = world({ giver: 8, taker: 0 });
    see(giver('a'));
    see(giver('b'));
    expect(ask(['a'])).toBe('AboveExcess');
    see(giver('c', 4, { node: 'n1' }));
    expect(ask(['a'])).toEqual(['a']);
  });

  test('a pod of another queue on the node goes instead', () => {
    const { see, ask } = world({ giver: 4, taker: 0 });
    see(giver('a', 4, { startedAt: 60 }));
    see({ name: 'b', cpu: 4, labels: labelOf('taker'), startedAt: 0 });
    expect(ask(['a'])).toEqual(['b']);
  });

  test.each<[string, Partial<WatchedPod>]>([
    ['of a namespace that is not managed', { namespace: 'other' }],
    ['of the priority of system pods', { priority: 2_000_000_000 }],
    ['of a queue that does not exist', { labels: labelOf('unknown') }],
    ['of the same queue', { labels: labelOf('giver') }],
    ['that was let in to the same queue', { admittedTo: 'giver' }],
  ])('a preemptor %s goes by priority', (_, preemptor) => {
    const { see, ask } = world({ giver: 8, taker: 0 });
    see(giver('a'));
    expect(ask(['a'], preemptor)).toEqual(['a']);
  });

  test.each<[string, Partial<WatchedPod>]>([
    ['of a namespace that is not managed', { namespace: 'other' }],
    ['of a queue that does not exist', { labels: labelOf('unknown') }],
    ['that was let in to a queue without a guarantee', { admittedTo: 'taker' }],
    ['that is terminating', { deletionAt: 30 }],
  ])('a victim %s is not kept', (_, victim) => {
    const { see, ask } = world({ giver: 8, taker: 0 });
    see(giver('a', 4, victim));
    expect(ask(['a'])).toEqual(['a']);
  });

  test('nothing is kept without queues, after the last queue, and where the watches are stale', () => {
    const { see, ask, rules, sheet, queue, remove, becomeStale } = world({});
    see(giver('a'));
    expect([rules.mayKeepOn?.(sheet()), ask(['a'])]).toEqual([false, ['a']]);
    queue('giver', 8);
    queue('taker', 0);
    expect([rules.mayKeepOn?.(sheet()), ask(['a'])]).toEqual([true, 'AboveExcess']);
    becomeStale();
    expect(ask(['a'])).toEqual(['a']);
    for (const name of ['giver', 'taker']) remove(name);
    expect(rules.mayKeepOn?.(sheet())).toBe(false);
  });

  test('of a queue the least important pods go', () => {
    const { see, ask } = world({ giver: 4, taker: 0 });
    for (const [at, name] of ['a', 'b', 'c'].entries()) see(giver(name, 2, { startedAt: at * 60 }));
    see({ name: 'd', cpu: 2, labels: labelOf('taker'), priority: 1 });
    expect(ask(['b', 'c'])).toEqual(['d', 'c']);
  });

  test.each<[string, Partial<WatchedPod>]>([
    ['terminate', { deletionAt: 30 }],
    ['have ended', { phase: 'Succeeded' }],
    ['wait', { node: '' }],
  ])('pods that %s count for nothing', (_, state) => {
    const { see, ask } = world({ giver: 4, taker: 0 });
    see(giver('a'));
    see(giver('b', 4, { node: 'n1' }));
    see(giver('b', 4, { node: 'n1', ...state }));
    expect(ask(['a'])).toBe('AboveExcess');
  });

  test('namespaces that become managed, and pods that are gone, count at once', () => {
    const { see, ask, goes, manage, rules, sheet, passMs } = world({ giver: 4, taker: 0 });
    manage('late', {});
    see(giver('a'));
    see(giver('b', 4, { namespace: 'late', node: 'n1' }));
    expect(ask(['a'])).toBe('AboveExcess');
    manage('late');
    expect([rules.mayKeepOn?.(sheet()), ask(['a'])]).toEqual([true, ['a']]);
    passMs(5_000);
    goes('b');
    expect(ask(['a'])).toBe('AboveExcess');
  });

  test('the queues are read again after a change of a spec, and not after one of a status', () => {
    const { see, ask, queue, reads } = world({ giver: 4, taker: 0 });
    see(giver('a'));
    expect([ask(['a']), reads()]).toEqual(['AboveExcess', 1]);
    queue('giver', 4);
    expect([ask(['a']), reads()]).toEqual(['AboveExcess', 1]);
    queue('giver', 0, 2);
    expect([ask(['a']), reads()]).toEqual([['a'], 2]);
  });
});

describe('preemptions whose victims the watch does not show yet', () => {
  const second = { name: 'second' };

  function twoPods() {
    const made = world({ giver: 4, taker: 0 });
    made.see(giver('a'));
    made.see(giver('b', 4, { node: 'n1' }));
    return made;
  }

  test('count as done for the next preemptor, and not for the same one', () => {
    const { ask } = twoPods();
    expect(ask(['a'])).toEqual(['a']);
    expect(ask(['b'], second, 'n1')).toBe('AboveExcess');
    expect(ask(['a'])).toEqual(['a']);
  });

  test('are forgotten after five seconds, if kube-scheduler did not preempt', () => {
    const { ask, passMs } = twoPods();
    ask(['a']);
    passMs(4_999);
    expect(ask(['b'], second, 'n1')).toBe('AboveExcess');
    passMs(1);
    expect(ask(['b'], second, 'n1')).toEqual(['b']);
  });

  test('are counted once when the watch shows them', () => {
    const { ask, see, goes } = twoPods();
    see(giver('c', 4, { node: 'n1' }));
    ask(['a']);
    see(giver('a', 4, { deletionAt: 30 }));
    expect(ask(['b'], second, 'n1')).toEqual(['b']);
    goes('a');
    expect(ask(['c'], { name: 'third' }, 'n1')).toBe('AboveExcess');
  });

  test('that the queues do not hold are not counted', () => {
    const { ask } = twoPods();
    expect(ask(['a'], { namespace: 'other' })).toEqual(['a']);
    expect(ask(['b'], second, 'n1')).toEqual(['b']);
  });
});

describe('a pod that was let in long ago and has no node', () => {
  const big: WatchedPod = { name: 'big', cpu: 9, admittedTo: 'taker', admittedAt: -301 };

  test('is not placed where its queue would be above its maximum, since its share went to others', () => {
    const { queue, see, goes, whyNotPlaced } = world();
    queue('taker', 0, 2, { cpu: '10' });
    see({ name: 's1', cpu: 2, admittedTo: 'taker' });
    expect(whyNotPlaced(big)).toBe('ShareReturned');
    expect(whyNotPlaced({ ...big, cpu: 8 })).toBeUndefined();
    // No clock is ahead by that much.
    expect(whyNotPlaced({ ...big, admittedAt: 4_000_000_000 })).toBe('ShareReturned');
    goes('s1');
    expect(whyNotPlaced(big)).toBeUndefined();
  });

  test('is placed as ever within five minutes, outside of queues, and where the queues are not known', () => {
    const { queue, see, whyNotPlaced, becomeStale } = world();
    queue('taker', 0, 2, { cpu: '1' });
    see({ name: 's1', cpu: 2, admittedTo: 'taker' });
    const pods = [
      { ...big, admittedAt: -299 },
      { ...big, namespace: 'elsewhere' },
      { name: 'big', cpu: 9 },
    ];
    expect(pods.map(whyNotPlaced)).toEqual([undefined, undefined, undefined]);
    becomeStale();
    expect(whyNotPlaced(big)).toBeUndefined();
  });
});
