import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ControllerPart, runController, type TermWork } from '#shared/kube/lease/run-controller.ts';
import { type LeaseTerm, runWithLease } from '#shared/kube/lease/leader-lease.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { manualClock, type ManualClock } from '#test/fakes/manual-clock.ts';
import { aborted } from '#test/build/waiting.ts';
import { leaseServer, type LeaseServer } from './lease-server.ts';

const LEASE = { name: 'plimsoll-controller', namespace: 'plimsoll-system' };
const [PERIOD_MS, DEADLINE_MS] = [1_000, 60_000];
const NEVER = new Promise<void>(() => undefined);
let server: LeaseServer;
let manual: ManualClock;
let said: string[];
let ends: AbortController[];

beforeEach(() => {
  [server, manual, said, ends] = [leaseServer(), manualClock(), [], []];
});

afterEach(async () => {
  for (const end of ends) end.abort();
  await manual.advance(120_000);
});

function logOf(): Log {
  const write = (fields: object, message?: string): void => {
    const { part } = fields as { readonly part?: string };
    if (part !== undefined) said.push(`${part}: ${message ?? ''}`);
  };
  return { info: write, warn: write, error: write } as unknown as Log;
}

/** Starts a replica; returns how to stop it. */
function replica(identity: string, parts: readonly ControllerPart[], lease = LEASE) {
  const stop = new AbortController();
  const own = { client: server.client(identity), clock: manual, random: () => 0, log: logOf() };
  let hasEnded = false;
  const done = runController({ ...own, lease, parts }, stop.signal).then(() => void (hasEnded = true));
  ends.push(stop);
  return { stop, done, hasEnded: () => hasEnded };
}

type Task = (signal: AbortSignal, term: LeaseTerm) => Promise<void>;

/** A part that notes the replica of each of its passes. */
function part(name: string, made: string[], replicaOf: string, more: Partial<TermWork> & { task?: Task } = {}) {
  const { task = () => Promise.resolve(), ...work } = more;
  const own: ControllerPart = {
    name,
    lease: `plimsoll-${name}`,
    begin: (term) => ({
      ...work,
      passes: [
        {
          task: async (signal) => {
            if (term.isHeld()) made.push(replicaOf);
            await task(signal, term);
          },
          periodMs: PERIOD_MS,
          deadlineMs: DEADLINE_MS,
          onError: () => said.push(`${name}: pass failed`),
        },
      ],
    }),
  };
  return own;
}

function holderOf(name: string): unknown {
  return server.leases.get(name)?.spec['holderIdentity'];
}

describe('a part begins', () => {
  test('once its sources are read and what comes first is done; optional sources do not delay it', async () => {
    const made: string[] = [];
    const read = Promise.withResolvers<undefined>();
    const order: string[] = [];
    const run = (name: string) => (signal: AbortSignal) => {
      order.push(name);
      return aborted(signal);
    };
    const sources = [{ run: run('needed'), synced: read.promise }, { run: run('optional') }];
    const prepare = () => Promise.resolve(void order.push('prepared'));
    replica('a', [part('nodes', made, 'a', { sources, prepare })]);
    await manual.advance(5_000);
    expect([order, made]).toEqual([['needed', 'optional'], []]);
    read.resolve(undefined);
    await manual.advance(PERIOD_MS);
    expect([order.at(-1), made.length > 0]).toEqual(['prepared', true]);
  });

  test('on one replica only, shows it, and hands over at once at a shutdown', async () => {
    const [ofA, ofB]: [string[], string[]] = [[], []];
    const metrics = createMetrics('x');
    const leader = metrics.gauge('plimsoll_leader', 'test');
    const first = replica('a', [{ ...part('nodes', ofA, 'a'), leader }]);
    await manual.advance(5_000);
    replica('b', [part('nodes', ofB, 'b')]);
    await manual.advance(20_000);
    expect([ofA.length > 20, ofB, await metrics.text()]).toEqual([
      true,
      [],
      expect.stringMatching(/^plimsoll_leader.* 1$/m),
    ]);
    first.stop.abort();
    await manual.advance(5_000);
    expect([first.hasEnded(), ofB.length > 0, await metrics.text()]).toEqual([
      true,
      true,
      expect.stringMatching(/^plimsoll_leader.* 0$/m),
    ]);
  });
});

describe('the lease ends', () => {
  test('in the middle of a write: the pass is aborted, writes nothing more, and the other replica starts after it', async () => {
    const [ofA, ofB, writes]: [string[], string[], string[]] = [[], [], []];
    const task: Task = async (signal, term) => {
      await aborted(signal);
      if (term.isHeld()) writes.push('late');
    };
    replica('a', [part('nodes', ofA, 'a', { task })]);
    await manual.advance(1_000);
    replica('b', [part('nodes', ofB, 'b')]);
    await manual.advance(5_000);
    server.cut.add('a');
    await manual.advance(11_000);
    expect([ofB, writes]).toEqual([[], []]);
    await manual.advance(10_000);
    expect([ofA.length, ofB.length > 0, writes]).toEqual([1, true, []]);
  });

  test('while the API server is away: nobody leads, and all parts begin again when it is back', async () => {
    const [nodes, queues]: [string[], string[]] = [[], []];
    replica('a', [part('nodes', nodes, 'a'), part('queues', queues, 'a')]);
    await manual.advance(5_000);
    server.cut.add('a');
    await manual.advance(15_000);
    const before = [nodes.length, queues.length];
    await manual.advance(60_000);
    expect([nodes.length, queues.length]).toEqual(before);
    server.cut.clear();
    await manual.advance(60_000);
    expect(nodes.length > Number(before[0]) && queues.length > Number(before[1])).toBe(true);
  });

  test('no answer arrives for less than the deadline: the term goes on', async () => {
    const made: string[] = [];
    replica('a', [part('nodes', made, 'a')]);
    await manual.advance(5_000);
    server.deaf.add('a');
    await manual.advance(3_000);
    server.deaf.clear();
    await manual.advance(30_000);
    expect(server.leases.get(LEASE.name)?.spec['leaseTransitions']).toBe(0);
    expect(made.length).toBeGreaterThan(30);
  });

  test('at a shutdown in the middle of a pass: the lease is released after the pass and its end', async () => {
    const order: string[] = [];
    const task: Task = async (signal) => {
      await aborted(signal);
      await manual.sleep(3_000);
      order.push(`pass ended, holder ${holderOf(LEASE.name) === '' ? 'gone' : 'here'}`);
    };
    const end = () => void order.push('end');
    const { stop, hasEnded } = replica('a', [part('nodes', [], 'a', { task, end })]);
    await manual.advance(1_000);
    stop.abort();
    await manual.advance(2_000);
    expect([order, hasEnded()]).toEqual([[], false]);
    await manual.advance(3_000);
    expect([order, hasEnded(), holderOf(LEASE.name)]).toEqual([['pass ended, holder here', 'end'], true, '']);
  });
});

describe('a fault of one part leaves the others alone', () => {
  test.each<[string, Partial<ControllerPart>]>([
    [
      'that cannot begin',
      {
        begin: () => {
          throw new Error('no');
        },
      },
    ],
    [
      'whose source fails',
      { begin: () => ({ sources: [{ run: () => Promise.reject(new Error('no')) }], passes: [] }) },
    ],
    ['whose first step fails', { begin: () => ({ prepare: () => Promise.reject(new Error('no')), passes: [] }) }],
  ])('a part %s is said, and begins again', async (_, fault) => {
    const made: string[] = [];
    replica('a', [{ ...part('queues', [], 'a'), ...fault }, part('nodes', made, 'a')]);
    await manual.advance(10_000);
    expect(said.filter((each) => each === 'queues: Part failed').length).toBeGreaterThan(2);
    expect(made.length).toBeGreaterThan(9);
    expect(server.leases.get(LEASE.name)?.spec['leaseTransitions']).toBe(0);
  });

  test('a pass that fails is repeated', async () => {
    const [made, failing]: [string[], string[]] = [[], []];
    const task: Task = () => Promise.reject(new Error('no'));
    replica('a', [part('queues', failing, 'a', { task }), part('nodes', made, 'a')]);
    await manual.advance(5_500);
    expect([failing.length, made.length]).toEqual([6, 6]);
    expect(new Set(said)).toEqual(new Set(['queues: pass failed']));
  });

  test('a pass that hangs goes to another replica after its deadline; here the others go on without it', async () => {
    const [nodesOfA, hung, ofB]: [string[], string[], string[]] = [[], [], []];
    replica('a', [part('queues', hung, 'a', { task: () => NEVER }), part('nodes', nodesOfA, 'a')]);
    await manual.advance(1_000);
    const second = replica('b', [part('queues', ofB, 'b')]);
    await manual.advance(DEADLINE_MS + 70_000);
    expect([hung.length, ofB.length > 0]).toEqual([1, true]);
    expect(said).toContain('queues: Pass does not end; another replica may take over');
    expect(said).toContain('queues: Part does not end with its term');
    second.stop.abort();
    const before = nodesOfA.length;
    await manual.advance(30_000);
    expect([hung.length, nodesOfA.length > before]).toEqual([1, true]);
    expect(said).toContain('queues: Part left out: its last term has not ended here');
  });

  test('what hangs does not keep a shutdown waiting for ever', async () => {
    const { stop, hasEnded } = replica('a', [part('queues', [], 'a', { task: () => NEVER })]);
    await manual.advance(1_000);
    stop.abort();
    await manual.advance(31_000);
    expect([hasEnded(), holderOf(LEASE.name)]).toEqual([true, '']);
  });
});

describe('the Lease of a part', () => {
  async function leadersWithin(ms: number, made: readonly string[]): Promise<ReadonlySet<string>> {
    const before = made.length;
    await manual.advance(ms);
    return new Set(made.slice(before));
  }

  /** A process of another version: it leads one part under the Lease of that part alone. */
  function former(made: string[]) {
    const stop = new AbortController();
    const lead = async (signal: AbortSignal, term: LeaseTerm): Promise<void> => {
      while (!signal.aborted) {
        if (term.isHeld()) made.push('former');
        await manual.sleep(PERIOD_MS, signal);
      }
    };
    const own = { client: server.client('former'), clock: manual, random: () => 0, log: logOf() };
    const lease = { name: 'plimsoll-queues', namespace: LEASE.namespace, identity: 'former' };
    void runWithLease({ ...own, ...lease, lead }, stop.signal);
    ends.push(stop);
    return stop;
  }

  test('an upgrade never runs two leaders of one part, in either direction, and other parts do not wait', async () => {
    const [nodes, queues]: [string[], string[]] = [[], []];
    const old = former(queues);
    await manual.advance(5_000);
    const next = replica('a', [part('queues', queues, 'a'), part('nodes', nodes, 'a')]);
    await manual.advance(60_000);
    expect([new Set(queues), nodes.length > 50]).toEqual([new Set(['former']), true]);
    old.abort();
    expect(await leadersWithin(20_000, queues)).toEqual(new Set(['a']));
    former(queues);
    expect(await leadersWithin(300_000, queues)).toEqual(new Set(['a']));
    next.stop.abort();
    await manual.advance(5_000);
    expect(await leadersWithin(20_000, queues)).toEqual(new Set(['former']));
  });

  test('processes with different Leases and a part in common run that part once', async () => {
    const queues: string[] = [];
    replica('a', [part('queues', queues, 'a')]);
    await manual.advance(1_000);
    replica('b', [part('queues', queues, 'b'), part('nodes', [], 'b')], { ...LEASE, name: 'another' });
    await manual.advance(300_000);
    expect(new Set(queues)).toEqual(new Set(['a']));
  });

  test('does not delay the next leader of the same process Lease after a crash', async () => {
    const queues: string[] = [];
    replica('a', [part('queues', queues, 'a')]);
    await manual.advance(5_000);
    replica('b', [part('queues', queues, 'b')]);
    await manual.advance(5_000);
    server.cut.add('a');
    await manual.advance(20_000);
    expect(queues.at(-1)).toBe('b');
  });
});
