import { expect } from 'vitest';
import { createReflector, type Reflector, type ReflectorOptions } from '#shared/kube/reflector/reflector.ts';
import type { Resource } from '#shared/kube/resource.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { manualClock, type ManualClock } from '#test/fakes/manual-clock.ts';
import { watchServer, type WatchServer } from '#test/fakes/watch-server.ts';

const THINGS: Resource = { group: '', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;

export interface Rig {
  readonly server: WatchServer;
  readonly clock: ManualClock;
  readonly reflector: Reflector<number>;
  readonly logged: string[];
  readonly metrics: () => Promise<string>;
  /** Runs the body together with the reflector and ends both. */
  run(body: () => Promise<void>): Promise<void>;
}

export function rig(changes: Partial<ReflectorOptions<number>> = {}, server = watchServer()): Rig {
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
    startsFromCache: true,
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

export function expectEqual(rigged: Rig): void {
  expect(known(rigged)).toEqual(rigged.server.state());
  expect(rigged.reflector.size).toBe(rigged.server.state().size);
}

export async function settle(clock: ManualClock): Promise<void> {
  for (let round = 0; round < 5; round += 1) await clock.advance(0);
}
