import { expect } from 'vitest';
import { type Admit, admitAll } from '#dashboard/access/admit.ts';
import { limitedViewer } from '#dashboard/access/viewer.ts';
import { dashboardApp } from '#dashboard/app.ts';
import type { DashboardSources } from '#dashboard/sources.ts';
import { type Server, serve } from '#shared/http/serve.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';

const log = createLog({ component: 'test', level: 'silent', format: 'json' });

/** A tenant of team-1. */
export const tenant: Admit = () =>
  Promise.resolve({ kind: 'admitted', viewer: limitedViewer((name) => Promise.resolve(name === 'team-1')) });

export interface ServedDashboard {
  /** Serves it, with some other sources if they are given; resolves with its address. */
  readonly start: (admit?: Admit, read?: Partial<DashboardSources>) => Promise<string>;
  /** Lets go of open pages. */
  readonly end: () => void;
  readonly stop: () => Promise<void>;
}

/** A dashboard for tests of its routes, one at a time. */
export function servedDashboard(sources: DashboardSources): ServedDashboard {
  let ending = new AbortController();
  let server: Server | undefined;
  return {
    async start(admit = admitAll, read = {}) {
      ending = new AbortController();
      const parts = { admit, clock: systemClock, log, signal: ending.signal, sources: { ...sources, ...read } };
      server = await serve({ handler: dashboardApp(parts), host: '127.0.0.1', port: 0 });
      return server.url;
    },
    end: () => ending.abort(),
    async stop() {
      ending.abort();
      await server?.close();
    },
  };
}

/** The JSON at an address, which no cache may keep. */
export async function answerAt<T>(address: string): Promise<T> {
  const response = await fetch(address);
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
  return (await response.json()) as T;
}

/** The status at an address, and what its problem says. */
export async function refusalAt(address: string): Promise<readonly [status: number, message: string]> {
  const response = await fetch(address);
  return [response.status, ((await response.json()) as { readonly message: string }).message];
}
