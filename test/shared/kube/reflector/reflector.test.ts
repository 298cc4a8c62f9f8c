import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createReflector, type Reflector, type ReflectorOptions } from '#shared/kube/reflector/reflector.ts';
import { PROMPT_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import type { Resource } from '#shared/kube/resource.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { manualClock, type ManualClock } from '#test/fakes/manual-clock.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { type Fault, type StreamFault, watchServer, type WatchServer } from '#test/fakes/watch-server.ts';

const THINGS: Resource = { group: '', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

interface Rig {
  readonly server: WatchServer;
  readonly clock: ManualClock;
  readonly reflector: Reflector<number>;
  readonly logged: string[];
  readonly metrics: () => Promise<string>;
  /** Runs the body together with the reflector and ends both. */
  run(body: () => Promise<void>): Promise<void>;
}

function rig(changes: Partial<ReflectorOptions<number>> = {}): Rig {
  const server = watchServer();
  const clock = manualClock();
  const logged: string[] = [];
  const metrics = createMetrics('test');
  const log = createLog({
    component: 'test',
    level: 'warn',
    format: 'json',
    destination: { write: (line) => void logged.push(line) },
  });
  const reflector = createReflector<number>({
    client: server.client,
    resource: THINGS,
    slim: (raw) => Number(raw['value']),
    clock,
    random: () => 0.5,
    log,
    metrics,
    pageSize: 3,
    ...changes,
  });
  async function run(body: () => Promise<void>): Promise<void> {
    const stop = new AbortController();
    const running = reflector.run(stop.signal);
    try {
      await body();
    } finally {
      stop.abort();
      await running;
    }
  }
  return { server, clock, reflector, logged, metrics: () => metrics.text(), run };
}

/** `values()` alone has no keys, so objects are looked up by the server's. */
function known({ reflector, server }: Rig): ReadonlyMap<string, number | undefined> {
  const keys = [...server.state().keys()];
  return new Map(keys.map((key) => [key, reflector.get(key)]));
}

function expectEqual(rigged: Rig): void {
  expect(known(rigged)).toEqual(rigged.server.state());
  expect(rigged.reflector.size).toBe(rigged.server.state().size);
}

async function settle(clock: ManualClock): Promise<void> {
  for (let round = 0; round < 5; round += 1) await clock.advance(0);
}

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

  test('a silent connection is given up after 90 s and resumed (F-04)', async () => {
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

  test('a server that is down for ten minutes gets at most one request in two seconds (F-02)', async () => {
    const rigged = rig();
    const { server, clock, reflector } = rigged;
    for (let n = 0; n < 300; n += 1) server.listFaults.push({ kind: 'unreachable' });
    await rigged.run(async () => {
      await clock.advance(10 * MINUTE);
      expect(server.requests.length).toBeGreaterThan(20);
      expect(server.requests.length).toBeLessThan(300);
      server.listFaults.length = 0;
      await clock.advance(30 * SECOND);
      expect(reflector.isSynced()).toBe(true);
    });
  });

  /** How long after its return a server that was away for ten minutes is heard, from many seeds. */
  async function absences(changes: Partial<ReflectorOptions<number>>): Promise<readonly number[]> {
    const waits: number[] = [];
    for (let seed = 1; seed <= 20; seed += 1) {
      const rigged = rig({ random: randomSource(seed).next, ...changes });
      const { server, clock, reflector } = rigged;
      server.listFaults.push(...Array.from({ length: 2000 }, () => ({ kind: 'unreachable' }) as const));
      await rigged.run(async () => {
        await clock.advance(10 * MINUTE);
        server.listFaults.length = 0;
        const backAtMs = clock.monotonic();
        while (!reflector.isSynced()) await clock.advance(100);
        waits.push(clock.monotonic() - backAtMs);
      });
    }
    return waits;
  }

  test('a server that was away for ten minutes is heard again within seven seconds where that is asked for', async () => {
    const waits = await absences({ backoff: PROMPT_BACKOFF });
    expect(Math.max(...waits)).toBeLessThanOrEqual(7100);
    expect(Math.max(...(await absences({})))).toBeGreaterThan(7100);
  });

  test('and within a second once its objects are needed', async () => {
    expect(Math.max(...(await absences({ isUrgent: () => true })))).toBeLessThanOrEqual(1100);
  });

  test('5,000 of them knock at a server that is away no oftener than their kubelets do for a lease', async () => {
    const rigged = rig({ random: randomSource(7).next, backoff: PROMPT_BACKOFF });
    const { server, clock } = rigged;
    server.listFaults.push(...Array.from({ length: 2000 }, () => ({ kind: 'unreachable' }) as const));
    await rigged.run(() => clock.advance(60 * MINUTE));
    const perSecond = (5000 * server.requests.length) / 3600;
    expect(perSecond).toBeGreaterThan(700);
    expect(perSecond).toBeLessThan(1000);
  });

  test('a watch that breaks after every list slows down', async () => {
    const rigged = rig();
    const { server, clock } = rigged;
    for (let n = 0; n < 500; n += 1) server.watchFaults.push({ kind: 'badLine', after: 0 });
    await rigged.run(() => clock.advance(10 * MINUTE));
    expect(server.requests.length).toBeLessThan(150);
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

  test('equals the server after any interleaving of changes and faults', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action(), { maxLength: 40 }), fc.boolean(), async (actions, isHostile) => {
        const rigged = rig();
        rigged.server.isHostile = isHostile;
        await rigged.run(async () => {
          for (const act of actions) await act(rigged);
          rigged.server.listFaults.length = 0;
          rigged.server.watchFaults.length = 0;
          for (let round = 0; round < 8; round += 1) await rigged.clock.advance(45 * SECOND);
          expectEqual(rigged);
        });
      }),
      { numRuns: 300 },
    );
  });
});

/** The versions asked for by all watches, or by all first pages of lists. */
function versionsOf({ requests }: WatchServer, ofWatches: boolean): readonly unknown[] {
  const queries = requests.map(({ query = {} }) => query);
  const chosen = queries.filter((query) => (query['watch'] === true) === ofWatches && query['continue'] === undefined);
  return chosen.map((query) => query['resourceVersion']);
}

type Action = (rigged: Rig) => Promise<void> | void;

const STREAM_FAULTS: readonly StreamFault[] = [
  'end',
  'truncate',
  'reset',
  'badLine',
  'unknownType',
  'errorWithoutCode',
  'goneInStream',
  'noVersion',
  'silence',
];

function action(): fc.Arbitrary<Action> {
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const put = fc.record({ name, value: fc.nat(9) });
  const fault: fc.Arbitrary<Fault> = fc.oneof(
    fc.record({ kind: fc.constantFrom(...STREAM_FAULTS), after: fc.nat(4) }),
    fc.record({ kind: fc.constant('status' as const), status: fc.constantFrom(400, 403, 404, 410, 429, 500, 504) }),
    fc.constant<Fault>({ kind: 'unreachable' }),
  );
  return fc.oneof(
    {
      weight: 6,
      arbitrary: put.map(
        ({ name: key, value }): Action =>
          ({ server }) =>
            server.put(key, value),
      ),
    },
    {
      weight: 3,
      arbitrary: name.map(
        (key): Action =>
          ({ server }) =>
            server.remove(key),
      ),
    },
    {
      weight: 1,
      arbitrary: fault.map(
        (it): Action =>
          ({ server }) =>
            void server.listFaults.push(it),
      ),
    },
    {
      weight: 3,
      arbitrary: fault.map(
        (it): Action =>
          ({ server }) =>
            void server.watchFaults.push(it),
      ),
    },
    { weight: 1, arbitrary: fc.constant<Action>(({ server }) => server.compact()) },
    { weight: 1, arbitrary: fc.constant<Action>(({ server }) => server.bookmark()) },
    {
      weight: 4,
      arbitrary: fc.nat(120_000).map(
        (ms): Action =>
          ({ clock }) =>
            clock.advance(ms),
      ),
    },
  );
}
