import { describe, expect, test } from 'vitest';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { ReflectorOptions } from '#shared/kube/reflector/reflector.ts';
import { PROMPT_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import { type Fault, watchServer, type WatchServer } from '#test/fakes/watch-server.ts';
import { SECOND, MINUTE, rig, expectEqual, settle } from './reflector-rig.ts';

describe('createReflector', () => {
  test('lists page by page, then follows the watch', async () => {
    const rigged = rig();
    const { server, clock, reflector } = rigged;
    for (let n = 0; n < 7; n += 1) server.put(`thing-${n}`, n);
    expect([reflector.isSynced(), reflector.position()]).toEqual([false, '']);
    await rigged.run(async () => {
      await settle(clock);
      expect(reflector.isSynced()).toBe(true);
      await reflector.synced;
      expectEqual(rigged);
      const listedAt = reflector.position();
      server.put('thing-2', 20);
      server.put('late', 1);
      server.remove('thing-0');
      await settle(clock);
      expectEqual(rigged);
      expect([listedAt, reflector.position()].includes('')).toBe(false);
      expect(reflector.position()).not.toBe(listedAt);
      expect([...reflector.values()].sort((a, b) => a - b)).toEqual([1, 1, 3, 4, 5, 6, 20]);
    });
    expect(server.requests.map(({ query }) => query)).toEqual([
      expect.objectContaining({ limit: 3, resourceVersion: '0' }),
      { limit: 3, continue: '3', fieldSelector: undefined, labelSelector: undefined },
      expect.objectContaining({ limit: 3, continue: '6' }),
      expect.objectContaining({ watch: true, allowWatchBookmarks: true, timeoutSeconds: 450 }),
    ]);
  });

  test('asks for one namespace and with selectors', async () => {
    const rigged = rig({ namespace: 'team-a', fieldSelector: 'spec.nodeName=n1', labelSelector: 'a=b' });
    await rigged.run(() => settle(rigged.clock));
    for (const { path, query } of rigged.server.requests) {
      expect(path).toBe('/api/v1/namespaces/team-a/things');
      expect(query).toMatchObject({ fieldSelector: 'spec.nodeName=n1', labelSelector: 'a=b' });
    }
  });

  test('resumes after the last version it saw, a bookmark included', async () => {
    const rigged = rig();
    const { server, clock } = rigged;
    server.put('a', 1);
    server.watchFaults.push({ kind: 'end', after: 1 }, { kind: 'end', after: 2 });
    await rigged.run(async () => {
      await settle(clock);
      server.put('a', 2);
      await settle(clock);
      server.put('b', 1);
      server.bookmark();
      await settle(clock);
    });
    expect(versionsOf(server, true)).toEqual(['v2-2', 'v3-3', 'v4-4']);
  });

  test.each<[string, Fault]>([
    ['410 as a status', { kind: 'status', status: 410 }],
    ['410 inside the stream', { kind: 'goneInStream', after: 0 }],
    ['a line that is no JSON', { kind: 'badLine', after: 0 }],
    ['an event of unknown type', { kind: 'unknownType', after: 0 }],
    ['an error without code', { kind: 'errorWithoutCode', after: 0 }],
    ['a bookmark without version', { kind: 'noVersion', after: 0 }],
    ['a version that the server calls invalid', { kind: 'status', status: 400 }],
  ])('%s leads to a fresh list that does not come from a cache', async (_, fault) => {
    const rigged = rig();
    const { server, clock } = rigged;
    server.put('stays', 1);
    server.put('goes', 1);
    server.watchFaults.push(fault);
    await rigged.run(async () => {
      await settle(clock);
      server.remove('goes');
      await clock.advance(SECOND);
      expectEqual(rigged);
    });
    expect(versionsOf(server, false)).toEqual(['0', undefined]);
  });

  test('no list comes from a cache, unless the first one may', async () => {
    const rigged = rig({ startsFromCache: false });
    const { server, clock } = rigged;
    server.put('a', 1);
    server.watchFaults.push({ kind: 'status', status: 410 });
    await rigged.run(async () => {
      await settle(clock);
      await clock.advance(SECOND);
      expectEqual(rigged);
    });
    expect(versionsOf(server, false)).toEqual([undefined, undefined]);
  });

  test.each<[string, Fault]>([
    ['a reset in the middle of a line', { kind: 'reset', after: 1 }],
    ['an end in the middle of a line', { kind: 'truncate', after: 1 }],
    ['a server error', { kind: 'status', status: 503 }],
    ['no server', { kind: 'unreachable' }],
  ])('%s leads to a watch from the last version', async (_, fault) => {
    const rigged = rig();
    const { server, clock } = rigged;
    server.put('a', 1);
    server.watchFaults.push(fault);
    await rigged.run(async () => {
      await settle(clock);
      server.put('a', 2);
      server.put('b', 1);
      await clock.advance(SECOND);
      expectEqual(rigged);
    });
    expect(versionsOf(server, false)).toEqual(['0']);
  });

  test('an API server that was restored from a backup is listed again: what never happened is forgotten', async () => {
    const rigged = rig({}, watchServer({ hasNumbers: true }));
    const { server, clock } = rigged;
    server.put('stays', 1);
    const restore = server.backup();
    await rigged.run(async () => {
      await settle(clock);
      server.put('never', 1);
      server.put('stays', 2);
      await clock.advance(SECOND);
      expectEqual(rigged);
      restore();
      server.put('after', 1);
      await clock.advance(3 * MINUTE);
      expectEqual(rigged);
      const lists = versionsOf(server, false).length;
      // A kind that does not change any more is not listed again and again.
      await clock.advance(8 * MINUTE);
      expect(versionsOf(server, false)).toHaveLength(lists);
    });
  });

  test('a watch that goes back leads to a fresh list', async () => {
    const rigged = rig({}, watchServer({ hasNumbers: true }));
    const { server, clock } = rigged;
    server.put('a', 1);
    await rigged.run(async () => {
      await settle(clock);
      server.put('a', 2);
      server.bookmarkOf(1);
      await clock.advance(SECOND);
      expectEqual(rigged);
    });
    expect(versionsOf(server, false)).toEqual(['0', undefined]);
  });

  test('a silent connection is given up after 90 s and resumed', async () => {
    const rigged = rig();
    const { server, clock, reflector } = rigged;
    server.watchFaults.push({ kind: 'silence', after: 0 });
    await rigged.run(async () => {
      await settle(clock);
      server.put('a', 1);
      await clock.advance(89 * SECOND);
      expect(reflector.size).toBe(0);
      await clock.advance(2 * SECOND);
      expectEqual(rigged);
      expect(reflector.lastContactMs()).toBeGreaterThan(89 * SECOND);
    });
    expect(await rigged.metrics()).toContain('plimsoll_reflector_restarts_total{resource="things",reason="silent"} 1');
  });

  test.each<readonly [how: string, changes: Partial<ReflectorOptions<number>>]>([
    ['as a rule', {}],
    ['where it is urgent, too', { isUrgent: () => true, backoff: PROMPT_BACKOFF }],
  ])('Retry-After is honoured %s', async (_, changes) => {
    const rigged = rig(changes);
    const { server, clock, reflector } = rigged;
    server.listFaults.push({ kind: 'status', status: 429, retryAfter: '30' });
    await rigged.run(async () => {
      await clock.advance(29 * SECOND);
      expect(reflector.isSynced()).toBe(false);
      await clock.advance(2 * SECOND);
      expect(reflector.isSynced()).toBe(true);
    });
  });

  test('lists anew now and then, and replaces without forgetting what is still there', async () => {
    const rigged = rig();
    const { server, clock, reflector } = rigged;
    server.put('a', 1);
    const changes: string[] = [];
    reflector.onChange(({ kind, key }) => changes.push(`${kind} ${key}`));
    server.watchFaults.push({ kind: 'end', after: 14 }, { kind: 'end', after: 9 });
    await rigged.run(async () => {
      for (let minute = 0; minute < 20; minute += 1) {
        server.bookmark();
        await clock.advance(MINUTE);
      }
      expect(versionsOf(server, false)).toEqual(['0']);
      for (let minute = 0; minute < 12; minute += 1) {
        server.bookmark();
        await clock.advance(MINUTE);
      }
    });
    expect(versionsOf(server, false)).toEqual(['0', undefined]);
    expect(changes).toEqual(['added ns/a', 'modified ns/a']);
  });

  test('tells listeners what changed, and survives one that throws', async () => {
    const rigged = rig();
    const { server, clock, reflector } = rigged;
    const seen: unknown[] = [];
    reflector.onChange(() => {
      throw new Error('listener is broken');
    });
    const stop = reflector.onChange((change) => seen.push(change));
    server.put('a', 1);
    await rigged.run(async () => {
      await settle(clock);
      server.put('a', 2);
      server.remove('a');
      await settle(clock);
      stop();
      server.put('b', 1);
      await settle(clock);
      expectEqual(rigged);
    });
    expect(seen).toEqual([
      { kind: 'added', key: 'ns/a', value: 1 },
      { kind: 'modified', key: 'ns/a', value: 2, previous: 1 },
      { kind: 'deleted', key: 'ns/a', value: 2 },
    ]);
    expect(rigged.logged.filter((line) => line.includes('listener is broken'))).toHaveLength(1);
  });

  test('an object that cannot be slimmed is left out, and the rest goes on', async () => {
    const rigged = rig({
      slim: (raw: KubeObject) => {
        if (raw['value'] === 13) throw new Error('unlucky');
        return Number(raw['value']);
      },
    });
    const { server, clock, reflector } = rigged;
    server.put('a', 1);
    server.put('b', 13);
    await rigged.run(async () => {
      await settle(clock);
      expect([...reflector.values()]).toEqual([1]);
      server.put('a', 13);
      await settle(clock);
      expect(reflector.size).toBe(0);
    });
    expect(await rigged.metrics()).toContain('plimsoll_reflector_handler_errors_total{resource="things"} 2');
  });

  test('asks for pages where the server cannot stream a list', async () => {
    const rigged = rig({ listing: 'stream' });
    const { server, clock } = rigged;
    server.put('a', 1);
    server.watchFaults.push({ kind: 'status', status: 400 });
    await rigged.run(async () => {
      await clock.advance(SECOND);
      expectEqual(rigged);
    });
    const [first, second] = server.requests.map(({ query }) => query);
    expect(first).toMatchObject({ watch: true, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' });
    expect(second).toMatchObject({ limit: 3, resourceVersion: '0' });
  });

  test('a server that answers 500 to a version again and again is asked for a list', async () => {
    const rigged = rig();
    const { server, clock } = rigged;
    for (let n = 0; n < 5; n += 1) server.watchFaults.push({ kind: 'status', status: 500 });
    await rigged.run(() => clock.advance(MINUTE));
    expect(versionsOf(server, false)).toEqual(['0', undefined]);
  });

  test('says in metrics how it is doing', async () => {
    const rigged = rig();
    rigged.server.listFaults.push({ kind: 'status', status: 500 });
    await rigged.run(() => rigged.clock.advance(SECOND));
    const text = await rigged.metrics();
    expect(text).toContain('plimsoll_reflector_lists_total{resource="things"} 2');
    expect(text).toContain('plimsoll_reflector_watches_total{resource="things"} 1');
    expect(text).toContain('plimsoll_reflector_restarts_total{resource="things",reason="refused"} 1');
    expect(text).toContain(
      `plimsoll_reflector_last_event_timestamp_seconds{resource="things"} ${Date.UTC(2026) / 1000}`,
    );
  });
});

/** The versions asked for by all watches, or by all first pages of lists. */
function versionsOf({ requests }: WatchServer, ofWatches: boolean): readonly unknown[] {
  const queries = requests.map(({ query = {} }) => query);
  const chosen = queries.filter((query) => (query['watch'] === true) === ofWatches && query['continue'] === undefined);
  return chosen.map((query) => query['resourceVersion']);
}
