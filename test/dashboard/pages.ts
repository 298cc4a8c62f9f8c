import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { type Admit, admitAll } from '#dashboard/access/admit.ts';
import { dashboardApp } from '#dashboard/app.ts';
import type { DashboardSources } from '#dashboard/sources.ts';
import { serve, type Server } from '#shared/http/serve.ts';
import { type Clock, systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { findChromium, startBrowser } from './browser.ts';

const log = createLog({ component: 'test', level: 'silent', format: 'json' });

/** Where there is no Chromium this is said and not run; in CI that is a failure. */
export const hasBrowser = findChromium() !== undefined || process.env['CI'] !== undefined;
export const BROWSER_TIMEOUT_MS = 60_000;

export interface Screen {
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
}

/** A page that is open, with whatever it says of errors and every host that it asks. */
export interface Visit {
  readonly page: Page;
  readonly faults: readonly string[];
  readonly hosts: ReadonlySet<string>;
  readonly end: () => Promise<void>;
}

export interface Pages {
  /** Serves a dashboard; resolves with its address. */
  readonly serve: (
    sources: DashboardSources,
    options?: { readonly admit?: Admit; readonly clock?: Clock },
  ) => Promise<string>;
  /** Opens an address and waits for a panel. */
  readonly visit: (address: string, screen?: Screen) => Promise<Visit>;
  readonly close: () => Promise<void>;
}

/** A browser and the dashboards that it looks at. */
export async function openPages(): Promise<Pages> {
  const browser = await startBrowser();
  const ending = new AbortController();
  const servers: Server[] = [];
  return {
    async serve(sources, { admit = admitAll, clock = systemClock } = {}) {
      const handler = dashboardApp({ sources, admit, clock, log, signal: ending.signal, clusterName: 'prod-eu-1' });
      const server = await serve({ handler, host: '127.0.0.1', port: 0, drainMs: 100 });
      servers.push(server);
      return server.url;
    },
    visit: (address, screen = {}) => visit(browser, address, screen),
    async close() {
      await browser.close();
      ending.abort();
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

async function visit(
  browser: Browser,
  address: string,
  { colorScheme = 'light', width = 1280 }: Screen,
): Promise<Visit> {
  const context = await browser.newContext({
    colorScheme,
    viewport: { width, height: 800 },
    timezoneId: 'Europe/Berlin',
  });
  const page = await context.newPage();
  const faults: string[] = [];
  const hosts = new Set<string>();
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (line) => line.type() === 'error' && faults.push(line.text()));
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  await page.goto(address);
  await page.locator('.panel').first().waitFor();
  return { page, faults, hosts, end: () => context.close() };
}

/** What axe finds against the accessibility of a page. */
export async function violations(page: Page): Promise<readonly string[]> {
  // Through the debugger: the page's own policy lets no other script run.
  await page.evaluate(axe.source);
  const found = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''} ${nodes[0]?.failureSummary ?? ''}`);
}
