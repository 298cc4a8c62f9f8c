import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LeaseTerm, runWithLease } from '#shared/kube/lease/leader-lease.ts';
import { createLog } from '#shared/runtime/log.ts';
import { failureOf } from '#shared/kube/client/outcome.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { manualClock, type ManualClock } from '#test/fakes/manual-clock.ts';
import { aborted } from '#test/build/waiting.ts';
import { leaseServer, type LeaseServer } from './lease-server.ts';

const log = createLog({ component: 'test', level: 'silent', format: 'json' });

const NAME = 'plimsoll-scheduler';

interface Contender {
  readonly stop: AbortController;
  readonly done: Promise<void>;
  /** The term being led. */
  term: LeaseTerm | undefined;
  readonly tokens: string[];
}

function contend(server: LeaseServer, clock: ManualClock, identity: string): Contender {
  const stop = new AbortController();
  const tokens: string[] = [];
  const contender: Contender = {
    stop,
    term: undefined,
    tokens,
    done: runWithLease(
      {
        client: server.client(identity),
        name: NAME,
        namespace: 'plimsoll-system',
        identity,
        clock,
        random: () => 0,
        log,
        lead: async (signal, term) => {
          tokens.push(term.fencingToken);
          contender.term = term;
          await aborted(signal);
          contender.term = undefined;
        },
      },
      stop.signal,
    ),
  };
  return contender;
}

function leaders(...contenders: readonly Contender[]): number {
  return contenders.filter(({ term }) => term?.isHeld() === true).length;
}

async function end(clock: ManualClock, ...contenders: readonly Contender[]): Promise<void> {
  contenders.forEach(({ stop }) => stop.abort());
  await clock.advance(20_000);
  await Promise.all(contenders.map(({ done }) => done));
}

describe('runWithLease', () => {
  test('one leads, the other waits, and takes over at once when the lease is given back', async () => {
    const [server, clock] = [leaseServer(), manualClock()];
    const a = contend(server, clock, 'a');
    await clock.advance(0);
    const b = contend(server, clock, 'b');
    await clock.advance(60_000);
    expect([a.tokens, b.tokens, server.leases.get(NAME)?.spec['holderIdentity']]).toEqual([['uid-1/0'], [], 'a']);
    a.stop.abort();
    await clock.advance(2_500);
    expect([a.term, b.tokens]).toEqual([undefined, ['uid-1/1']]);
    expect(server.leases.get(NAME)?.spec).toMatchObject({
      holderIdentity: 'b',
      leaseTransitions: 1,
      leaseDurationSeconds: 15,
    });
    await end(clock, a, b);
    expect(server.leases.get(NAME)?.spec['holderIdentity']).toBe('');
  });

  test('a leader knows until when the one before it was alive, and the first that there was none', async () => {
    const [server, clock] = [leaseServer(), manualClock()];
    const a = contend(server, clock, 'a');
    await clock.advance(60_000);
    expect(a.term?.formerUntil).toBe(0);
    const cutAt = clock.now();
    server.cut.add('a');
    await clock.advance(300_000);
    const b = contend(server, clock, 'b');
    await clock.advance(30_000);
    expect(b.term?.formerUntil).toBeLessThanOrEqual(cutAt);
    expect(b.term?.formerUntil).toBeGreaterThan(cutAt - 5_000);
    await end(clock, a, b);
  });

  test('a holder that writes an end in ten years holds it for a minute after it was last seen', async () => {
    const [server, clock] = [leaseServer(), manualClock()];
    const forged = { holderIdentity: 'thief', leaseDurationSeconds: 2_000_000_000, renewTime: '2036-01-01T00:00:00Z' };
    server.leases.set(NAME, { metadata: { uid: 'uid-0', resourceVersion: 'v0' }, spec: forged });
    const a = contend(server, clock, 'a');
    await clock.advance(59_000);
    expect(leaders(a)).toBe(0);
    await clock.advance(5_000);
    expect(leaders(a)).toBe(1);
    expect(a.term?.formerUntil).toBeLessThanOrEqual(clock.now());
    await end(clock, a);
  });

  test('a leader that is cut off stops before another begins', async () => {
    const [server, clock] = [leaseServer(), manualClock()];
    const a = contend(server, clock, 'a');
    await clock.advance(0);
    const b = contend(server, clock, 'b');
    await clock.advance(20_000);
    server.cut.add('a');
    await clock.advance(8_000);
    expect(leaders(a)).toBe(1);
    await clock.advance(3_000);
    expect([a.term, leaders(b)]).toEqual([undefined, 0]);
    await clock.advance(8_000);
    expect(leaders(b)).toBe(1);
    await end(clock, a, b);
  });

  test('a renewal whose answer was lost does not cost the lease', async () => {
    const [server, clock] = [leaseServer(), manualClock()];
    const a = contend(server, clock, 'a');
    await clock.advance(4_500);
    server.deaf.add('a');
    await clock.advance(2_000);
    server.deaf.clear();
    await clock.advance(30_000);
    expect([leaders(a), a.tokens]).toEqual([1, ['uid-1/0']]);
    await end(clock, a);
  });

  test('a lease that was deleted is lost, and the next term has another token', async () => {
    const [server, clock] = [leaseServer(), manualClock()];
    const a = contend(server, clock, 'a');
    await clock.advance(3_000);
    server.leases.delete(NAME);
    await clock.advance(6_000);
    expect(a.tokens).toEqual(['uid-1/0', 'uid-2/0']);
    await end(clock, a);
  });

  test('a candidate that waits watches the lease, and asks for nothing while another renews it', async () => {
    const [server, clock] = [leaseServer(), manualClock()];
    const a = contend(server, clock, 'a');
    await clock.advance(0);
    const b = contend(server, clock, 'b');
    await clock.advance(3_000);
    server.asked.length = 0;
    await clock.advance(60_000);
    expect([new Set(server.asked), server.asked.length]).toEqual([new Set(['a PATCH']), 24]);
    expect(server.watching()).toBe(1);
    server.remove(NAME);
    await clock.advance(2_500);
    expect([leaders(a, b), server.leases.get(NAME)?.metadata.uid]).toEqual([1, 'uid-2']);
    a.stop.abort();
    await clock.advance(2_500);
    expect([leaders(b), server.watching()]).toEqual([1, 0]);
    await end(clock, a, b);
  });

  test('a candidate that may not watch the lease asks for it', async () => {
    const [server, clock] = [leaseServer(), manualClock()];
    server.unwatched.add('b');
    const a = contend(server, clock, 'a');
    await clock.advance(0);
    const b = contend(server, clock, 'b');
    await clock.advance(60_000);
    expect(server.asked.filter((each) => each === 'b GET')).toHaveLength(31);
    expect(server.asked.filter((each) => each === 'b list').length).toBeLessThan(15);
    server.cut.add('a');
    await clock.advance(20_000);
    expect(leaders(b)).toBe(1);
    await end(clock, a, b);
  });

  test('a candidate that has waited for an hour asks no more often than one that has just begun', async () => {
    const [server, clock] = [leaseServer(), manualClock()];
    const a = contend(server, clock, 'a');
    await clock.advance(0);
    const b = contend(server, clock, 'b');
    await clock.advance(3_600_000);
    expect(server.asked.filter((each) => each.startsWith('b ')).length).toBeLessThan(60);
    server.cut.add('a');
    await clock.advance(18_000);
    expect(leaders(b)).toBe(1);
    await end(clock, a, b);
  });

  test('a term is over for a process that was frozen, before any timer has run', async () => {
    const [server, clock] = [leaseServer(), manualClock()];
    const a = contend(server, clock, 'a');
    await clock.advance(100);
    const term = a.term;
    expect(term?.isHeld()).toBe(true);
    const waking = clock.advance(60_000);
    server.cut.add('a');
    await waking;
    expect(term?.isHeld()).toBe(false);
    await end(clock, a);
  });

  test('work that fails gives the lease back, and is tried again', async () => {
    const [server, clock] = [leaseServer(), manualClock()];
    const stop = new AbortController();
    let begun = 0;
    const done = runWithLease(
      {
        client: server.client('a'),
        name: 'n',
        namespace: 'ns',
        identity: 'a',
        clock,
        random: () => 0,
        log,
        lead: () => Promise.reject(new Error(`failure ${(begun += 1)}`)),
      },
      stop.signal,
    );
    await clock.advance(5_000);
    expect(begun).toBe(3);
    stop.abort();
    await done;
  });

  test('a lease that may not be had is said once for each cause', async () => {
    const clock = manualClock();
    const stop = new AbortController();
    const lines: string[] = [];
    const { client } = scriptedClient(() => failureOf(403, { message: 'may not get leases' }));
    const done = runWithLease(
      {
        client,
        name: 'n',
        namespace: 'ns',
        identity: 'a',
        clock,
        random: () => 0,
        log: createLog({
          component: 'test',
          level: 'warn',
          format: 'json',
          destination: { write: (line) => void lines.push(line) },
        }),
        lead: () => Promise.reject(new Error('never leads')),
      },
      stop.signal,
    );
    await clock.advance(20_000);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { msg: 'Lease not available', lease: 'n', namespace: 'ns', reason: 'may not get leases' },
    ]);
    stop.abort();
    await done;
  });

  test('never two leaders, whatever is cut off or deaf, and one again afterwards', async () => {
    const fault = fc.record({ who: fc.constantFrom('a', 'b', 'c'), how: fc.constantFrom('cut', 'deaf', 'heal') });
    const step = fc.record({ ms: fc.nat(9_000), fault: fc.option(fault) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const [server, clock] = [leaseServer(), manualClock()];
        const all = ['a', 'b', 'c'].map((identity) => contend(server, clock, identity));
        for (const { ms, fault: broken } of steps) {
          if (broken !== null) apply(server, broken);
          for (let left = ms; left > 0; left -= 500) {
            await clock.advance(Math.min(500, left));
            expect(leaders(...all)).toBeLessThanOrEqual(1);
          }
        }
        server.cut.clear();
        server.deaf.clear();
        await clock.advance(40_000);
        expect(leaders(...all)).toBe(1);
        await end(clock, ...all);
        const tokens = all.flatMap((contender) => contender.tokens);
        expect(new Set(tokens).size).toBe(tokens.length);
      }),
      { numRuns: 60 },
    );
  });
});

function apply({ cut, deaf }: LeaseServer, { who, how }: { who: string; how: string }): void {
  cut.delete(who);
  deaf.delete(who);
  if (how === 'cut') cut.add(who);
  if (how === 'deaf') deaf.add(who);
}
