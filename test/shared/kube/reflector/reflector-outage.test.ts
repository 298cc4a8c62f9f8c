import { describe, expect, test } from 'vitest';
import type { ReflectorOptions } from '#shared/kube/reflector/reflector.ts';
import { PROMPT_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { SECOND, MINUTE, rig } from './reflector-rig.ts';

describe('createReflector, while its server is away', () => {
  test('a server that is down for ten minutes gets at most one request in two seconds', async () => {
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
});
