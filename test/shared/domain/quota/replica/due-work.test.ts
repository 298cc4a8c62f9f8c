import { beforeEach, describe, expect, test } from 'vitest';
import { createReplicaRig, kindsOf, pendingOf, reservation, sliceOf, stateOf, versionOf } from './replica-rig.ts';

const LATE = { kind: 'busy', why: 'no result in time' };

describe('a periodic count', () => {
  test.each<[string, number, number, number]>([
    ['30 s with nothing open', 0, 0, 30_000],
    ['5 s with a reservation', 1, 0, 5_000],
    ['5 s with a slice', 0, 1, 5_000],
    ['5 s with 299 of both', 298, 1, 5_000],
    ['1 s with 300 of both', 299, 1, 1_000],
  ])('is due after %s', (_, reservations, slices, dueMs) => {
    const rig = createReplicaRig();
    const open = Array.from({ length: reservations }, (_each, index) => reservation(`r-${index}`, '0'));
    const held = Array.from({ length: slices }, (_each, index) => sliceOf(`other-${index}`, '0'));
    rig.observed = { ...rig.observed, slices: new Map(held.map((each) => [each.holder, each])) };
    expect(rig.tick()).toEqual([{ kind: 'read' }]);
    expect(rig.read(versionOf({ state: stateOf('0', open) }))).toEqual([{ kind: 'recounted', result: 'done' }]);
    expect(rig.at(dueMs - 1).tick()).toEqual([]);
    expect(rig.at(dueMs).tick()).toEqual([{ kind: 'read' }]);
  });

  test.each([
    [0, 22_500],
    [0.25, 26_250],
    [0.5, 30_000],
  ])('is due at a time of its own in each replica: random %s, after %s ms', (random, dueMs) => {
    const rig = createReplicaRig();
    rig.tick(random);
    rig.read(versionOf());
    expect(rig.at(dueMs - 1).tick(random)).toEqual([]);
    expect(rig.at(dueMs).tick(random)).toEqual([{ kind: 'read' }]);
    rig.read(versionOf());
    expect(rig.at(2 * dueMs - 1).tick(random)).toEqual([]);
    expect(rig.at(2 * dueMs).tick(random)).toEqual([{ kind: 'read' }]);
  });

  test('fails while not all pods are known, and is made as soon as they are', () => {
    const rig = createReplicaRig();
    rig.isFilled = false;
    rig.tick();
    expect(rig.read(versionOf())).toEqual([{ kind: 'recounted', result: 'failed' }]);
    expect(rig.replica.hasCounted).toBe(false);
    rig.isFilled = true;
    expect(rig.observe()).toEqual([{ kind: 'read' }]);
    expect(rig.read(versionOf())).toEqual([{ kind: 'recounted', result: 'done' }]);
    expect(rig.replica.hasCounted).toBe(true);
    expect(rig.observe()).toEqual([]);
  });

  test('follows each new proof of the view, and each proof once', () => {
    const rig = createReplicaRig();
    rig.tick();
    rig.read(versionOf());
    rig.provenAt = 100;
    expect(rig.at(200).tick()).toEqual([{ kind: 'read' }]);
    rig.read(versionOf());
    expect(rig.at(300).tick()).toEqual([]);
    rig.provenAt = 99;
    expect(rig.at(400).tick()).toEqual([]);
  });
});

describe('a reservation that only a change can help', () => {
  let rig: ReturnType<typeof createReplicaRig>;

  beforeEach(() => {
    rig = createReplicaRig();
    rig.tick();
    rig.read(versionOf());
    // No refusal is final while not all pods are known.
    rig.isFilled = false;
    rig.ask(pendingOf('large', '2000Gi', { giveUpAt: 60_000 }));
    expect(rig.send({ kind: 'due' })).toEqual([{ kind: 'read' }]);
    expect(rig.read(versionOf())).toEqual([]);
  });

  test('is decided again once in a second', () => {
    expect(rig.at(999).tick()).toEqual([]);
    expect(rig.at(1_000).tick()).toEqual([{ kind: 'read' }]);
    expect(rig.read(versionOf())).toEqual([]);
    expect(rig.at(1_999).tick()).toEqual([]);
    expect(rig.at(2_000).tick()).toEqual([{ kind: 'read' }]);
  });

  test('is decided again 50 ms after the last time where something was observed', () => {
    expect(rig.at(49).observe()).toEqual([]);
    expect(rig.at(50).tick()).toEqual([{ kind: 'read' }]);
    expect(rig.read(versionOf())).toEqual([]);
    // What was observed has been taken into account.
    expect(rig.at(150).tick()).toEqual([]);
  });

  test('is answered at its deadline, once', () => {
    expect(rig.at(59_999).tick()).toEqual([{ kind: 'read' }]);
    expect(rig.at(60_000).tick()).toMatchObject([{ kind: 'answer', result: LATE }]);
    expect(kindsOf(rig.at(61_000).tick())).toEqual([]);
  });
});

describe('a proof of the view', () => {
  const counted = { recounts: 1, counted: { pods: 50, namespaces: 1 } };

  test('is requested when the view has been behind the last recount for two seconds', () => {
    const rig = createReplicaRig();
    rig.reached = { pods: 49, namespaces: 1 };
    rig.at(100).tick();
    expect(rig.read(versionOf(counted))).toEqual([{ kind: 'recounted', result: 'done' }]);
    rig.at(1_500).ask(pendingOf('x'));
    rig.send({ kind: 'due' });
    expect(rig.at(2_099).tick()).toEqual([]);
    expect(rig.at(2_100).tick()).toEqual([{ kind: 'prove' }]);
  });

  test('is not requested once the view has caught up', () => {
    const rig = createReplicaRig();
    rig.reached = { pods: 49, namespaces: 1 };
    rig.tick();
    rig.read(versionOf(counted));
    rig.reached = { pods: 50, namespaces: 1 };
    rig.at(30_000).tick();
    rig.read(versionOf(counted));
    expect(rig.at(40_000).tick()).toEqual([]);
  });

  test.each<[string, object, object, number, boolean]>([
    ['has reached both revisions', counted, { pods: 50, namespaces: 1 }, -1, true],
    ['lacks pods', counted, { pods: 49, namespaces: 1 }, -1, false],
    ['lacks namespaces', counted, { pods: 50, namespaces: 0 }, -1, false],
    ['faces a recount of which nothing is known', { recounts: 1 }, { pods: 99, namespaces: 9 }, -1, false],
    ['faces no recount at all', { recounts: 0 }, { pods: 0, namespaces: 0 }, -1, true],
    ['lacks pods, and is proven since the recount is known', counted, { pods: 49, namespaces: 1 }, 10, true],
    ['lacks pods, and is proven for an earlier time', counted, { pods: 49, namespaces: 1 }, 9, false],
  ])('a view that %s', (_, version, reached, provenAt, isEnough) => {
    const rig = createReplicaRig();
    rig.reached = reached as typeof rig.reached;
    rig.provenAt = provenAt;
    rig.pods = [{ uid: 'p', namespace: 'a', amounts: new Map() }];
    rig.at(10).tick();
    // A count that is not made leaves `used` as it is.
    const effects = rig.read(versionOf({ ...version, state: stateOf('5Gi') }));
    expect(effects).toMatchObject(isEnough ? [{ kind: 'write' }] : [{ kind: 'recounted', result: 'done' }]);
  });
});

describe('what has expired', () => {
  const RESERVATION_MS = 120_000;
  const SLICE_MS = 3 * 10_000 + RESERVATION_MS;

  function tracker() {
    const { expiry } = createReplicaRig().replica;
    expiry.missing(['first'], 1_000);
    expiry.missing(['first', 'second'], 4_000);
    expiry.slices([sliceOf('silent', '1Gi'), sliceOf('busy', '1Gi')], 1_000);
    expiry.slices([sliceOf('silent', '1Gi'), sliceOf('busy', '1Gi', { renewals: 2 })], 4_000);
    return expiry;
  }

  test.each([
    ['first', 1_000 + RESERVATION_MS - 1, false],
    ['first', 1_000 + RESERVATION_MS, true],
    ['second', 4_000 + RESERVATION_MS - 1, false],
    ['second', 4_000 + RESERVATION_MS, true],
    ['unknown', Infinity, false],
  ])('is the reservation %s, proven at %s: %s', (uid, provenAt, isExpired) => {
    expect(tracker().isExpired(uid, provenAt)).toBe(isExpired);
  });

  test.each([
    ['silent', 1, 1_000 + SLICE_MS - 1, false],
    ['silent', 1, 1_000 + SLICE_MS, true],
    ['silent', 2, 1_000 + SLICE_MS, false],
    ['busy', 2, 4_000 + SLICE_MS - 1, false],
    ['busy', 2, 4_000 + SLICE_MS, true],
    ['unknown', 1, Infinity, false],
  ])('is the slice of %s with renewal %s, proven at %s: %s', (holder, renewals, provenAt, isDead) => {
    expect(tracker().isDead(sliceOf(holder, '1Gi', { renewals }), provenAt)).toBe(isDead);
  });

  test('is not a reservation that was found again in between', () => {
    const expiry = tracker();
    expiry.missing([], 5_000);
    expiry.missing(['first'], 6_000);
    expect(expiry.isExpired('first', 6_000 + RESERVATION_MS - 1)).toBe(false);
    expect(expiry.isExpired('first', 6_000 + RESERVATION_MS)).toBe(true);
  });

  test.each<[string, number, number, boolean]>([
    ['is owed in a millisecond', 10_999, -Infinity, false],
    ['is owed now', 11_000, -Infinity, true],
    ['is owed by a proof from just before', 11_000, 10_999, true],
    ['is owed by a proof of then', 11_000, 11_000, false],
    ['expires in a millisecond', 1_000 + RESERVATION_MS - 1, 120_000, false],
    ['expires now', 1_000 + RESERVATION_MS, 120_000, true],
    ['expired, as is proven', 1_000 + RESERVATION_MS, 1_000 + RESERVATION_MS, false],
  ])('needs a proof where a reservation %s', (_, now, provenAt, isNeeded) => {
    const { expiry } = createReplicaRig().replica;
    expiry.missing(['first'], 1_000);
    expect(expiry.needsProof(now, provenAt)).toBe(isNeeded);
  });

  test.each<[string, number, number, boolean]>([
    ['dies in a millisecond', 1_000 + SLICE_MS - 1, -Infinity, false],
    ['dies now', 1_000 + SLICE_MS, -Infinity, true],
    ['has died, as is proven', 1_000 + SLICE_MS, 1_000 + SLICE_MS, false],
  ])('needs a proof where a slice %s', (_, now, provenAt, isNeeded) => {
    const { expiry } = createReplicaRig().replica;
    expiry.slices([sliceOf('silent', '1Gi')], 1_000);
    expect(expiry.needsProof(now, provenAt)).toBe(isNeeded);
  });
});
