import { beforeEach, describe, expect, test } from 'vitest';
import { createLedgerRig, decode, type LedgerRig, pod, reservation, type RigView } from './ledger-rig.ts';

let rig: LedgerRig;

beforeEach(() => {
  rig = createLedgerRig();
});

describe('QuotaLedger, while not all pods are known', () => {
  test('reserves what fits, and refuses nothing', async () => {
    const view = rig.view();
    view.isFilled = false;
    const one = rig.ledger({ view });
    const large = one.reserve(reservation('large', '5Gi'), { withinMs: 3_000, isDryRun: false });
    const small = one.reserve(reservation('small'), { withinMs: 100, isDryRun: false });
    await rig.clock.advance(50);
    expect([await small, one.hasCounted, one.uncharged]).toEqual([{ kind: 'reserved' }, false, undefined]);
    view.isFilled = true;
    one.observe();
    await rig.clock.advance(100);
    expect([await large, one.hasCounted, one.uncharged]).toMatchObject([
      { kind: 'exceeded' },
      true,
      { unreadable: [] },
    ]);
  });

  test('says busy in time', async () => {
    const view = rig.view();
    view.isFilled = false;
    expect(await rig.reserve(rig.ledger({ view }), reservation('large', '5Gi'))).toMatchObject({ kind: 'busy' });
  });

  test('reserves nothing under limits that are new', async () => {
    rig.object = { ...rig.object, isCounted: false };
    const view = rig.view();
    view.isFilled = false;
    const one = rig.ledger({ view });
    const asked = one.reserve(reservation('a'), { withinMs: 3_000, isDryRun: false });
    await rig.clock.advance(1_000);
    expect(rig.writes).toBe(0);
    view.isFilled = true;
    await rig.clock.advance(1_000);
    expect([await asked, rig.object.isCounted]).toEqual([{ kind: 'reserved' }, true]);
  });
});

describe('QuotaLedger, with a view that is older than the last count', () => {
  async function counted(): Promise<RigView> {
    const quick = rig.ledger();
    await rig.reserve(quick, reservation('a'));
    rig.pods = [pod('a')];
    rig.revision = 50;
    await rig.recount(quick);
    expect([rig.object.state.reservations.size, rig.object.counted]).toEqual([0, { pods: 50, namespaces: 1 }]);
    const view = rig.view();
    view.pods = [];
    view.reached = { pods: 49, namespaces: 1 };
    rig.isProving = false;
    return view;
  }

  test('does not count, which would miss the pod whose reservation was removed', async () => {
    const view = await counted();
    const slow = rig.ledger({ view });
    await rig.recount(slow);
    expect(rig.used()).toBe('1Gi');
    view.reached = { pods: 50, namespaces: 1 };
    view.pods = [pod('a'), pod('b')];
    await rig.recount(slow, 60_000);
    expect(rig.used()).toBe('2Gi');
  });

  test('does not count either when it is the namespaces that are older', async () => {
    const view = await counted();
    view.reached = { pods: 50, namespaces: 0 };
    await rig.recount(rig.ledger({ view }));
    expect(rig.used()).toBe('1Gi');
  });

  test('refuses all the same, by the count that is newer', async () => {
    const view = await counted();
    const slow = rig.ledger({ view });
    const result = slow.reserve(reservation('large', '4Gi'), { withinMs: 1_000, isDryRun: false });
    await rig.clock.advance(0);
    expect(await result).toMatchObject({ kind: 'exceeded' });
  });

  test.each<[string, object | undefined]>([
    ['that says nothing of what it had seen', undefined],
    ['of a replica that does not say, after one that did', { recount: 1, pods: 2, namespaces: 0 }],
  ])('does not count after a count %s, until it is proven current', async (_, status) => {
    const view = await counted();
    view.reached = { pods: Infinity, namespaces: Infinity };
    const { raw } = rig.object;
    rig.object = decode({ ...raw, status: { ...(raw['status'] as object), recounts: 7, counted: status } });
    const slow = rig.ledger({ view });
    await rig.recount(slow);
    expect(rig.used()).toBe('1Gi');
    view.pods = rig.pods = [];
    rig.isProving = true;
    await rig.recount(slow);
    await rig.recount(slow);
    expect(rig.used()).toBe('0');
  });

  test('counts once it is proven current, even if the recorded revisions make no sense', async () => {
    const view = await counted();
    const slow = rig.ledger({ view });
    await rig.recount(slow);
    rig.isProving = true;
    await rig.recount(slow);
    await rig.recount(slow);
    expect(rig.used()).toBe('0');
  });
});
