import { describe, expect, test } from 'vitest';
import type { Ending } from '#shared/kube/reflector/reflector-plan.ts';
import { StreamFaults, streamFaultsOf } from '#shared/kube/reflector/stream-faults.ts';
import { expectEqual, MINUTE, rig, SECOND, settle } from './reflector-rig.ts';

const BROKEN: Ending = { kind: 'broken', message: 'reset' };

function refused(kind: string): Ending {
  return { kind: 'refused', failure: { kind, message: '' } } as Ending;
}

describe('which lost streams are logged', () => {
  test('one for an outage, however many streams break and however often each is tried', () => {
    const faults = new StreamFaults();
    const kinds = [BROKEN, refused('unreachable'), refused('serverError'), refused('tooManyRequests'), refused('gone')];
    const logged = Array.from({ length: 50 }, (_, index) =>
      faults.isNew(`kind-${index % 15}`, kinds[index % kinds.length] ?? BROKEN, index * SECOND),
    );
    expect(logged.filter(Boolean)).toEqual([true]);
    expect(faults.isNew('pods', BROKEN, 10 * MINUTE)).toBe(true);
  });

  test('one for each resource that may not be read, until it may', () => {
    const faults = new StreamFaults();
    const isNew = (resource: string): boolean => faults.isNew(resource, refused('forbidden'), 0);
    expect([isNew('pods'), isNew('pods'), isNew('nodes')]).toEqual([true, false, true]);
    faults.worked('pods');
    expect([isNew('pods'), isNew('nodes')]).toEqual([true, false]);
    expect(faults.isNew('nodes', refused('unauthorized'), 0)).toBe(true);
  });

  test('none where an API server that has just started does not know yet who may read what, unless it lasts', () => {
    const faults = new StreamFaults();
    expect(faults.isNew('pods', BROKEN, 0)).toBe(true);
    const refusedAt = (at: number) => ['pods', 'nodes'].map((kind) => faults.isNew(kind, refused('forbidden'), at));
    expect(refusedAt(5 * SECOND)).toEqual([false, false]);
    expect(refusedAt(2 * MINUTE)).toEqual([true, true]);
  });

  test.each([
    ['the server is busy', 'tooManyRequests'],
    ['a watch without bookmarks is too old', 'gone'],
  ])('none for one answer that %s, and one for an outage of such answers', (_, kind) => {
    const faults = new StreamFaults();
    const isNew = (resource: string): boolean => faults.isNew(resource, refused(kind), 0);
    expect([isNew('pods'), isNew('nodes')]).toEqual([false, false]);
    faults.worked('nodes');
    expect([isNew('nodes'), isNew('pods'), isNew('pods'), isNew('nodes')]).toEqual([false, true, false, false]);
  });

  test('streams of one client are in the same outage', () => {
    const client = rig().server.client;
    expect(streamFaultsOf(client)).toBe(streamFaultsOf(client));
    expect(streamFaultsOf(rig().server.client)).not.toBe(streamFaultsOf(client));
  });

  test('watches that stay silent are no fault: each is opened again at once, and nothing is logged', async () => {
    const rigged = rig();
    const { server, clock } = rigged;
    for (let watch = 0; watch < 20; watch += 1) server.watchFaults.push({ kind: 'silence', after: 0 });
    await rigged.run(async () => {
      await settle(clock);
      await clock.advance(20 * 91 * SECOND);
      server.put('a', 1);
      await clock.advance(SECOND);
      expectEqual(rigged);
    });
    expect(rigged.logged).toEqual([]);
    expect(await rigged.metrics()).toContain('restarts_total{resource="things",reason="silent"} 20');
  });
});
