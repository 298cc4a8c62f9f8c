import { afterEach, describe, expect, test } from 'vitest';
import { dashboardApp } from '#dashboard/app.ts';
import type { View } from '#dashboard/view.ts';
import type { Server } from '#shared/http/serve.ts';
import { serve } from '#shared/http/serve.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';

const log = createLog({ component: 'test', level: 'fatal', format: 'json' });

describe('dashboardApp', () => {
  const nodes: KubeObject[] = [];
  const listeners = new Set<() => void>();
  let ending = new AbortController();
  let server: Server | undefined;

  async function start(): Promise<string> {
    ending = new AbortController();
    const sources = {
      nodePressures: () => nodes,
      events: () => [],
      onChange: (listener: () => void) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    };
    const handler = dashboardApp({ sources, clock: systemClock, log, signal: ending.signal });
    server = await serve({ handler, host: '127.0.0.1', port: 0 });
    return server.url;
  }

  afterEach(async () => {
    ending.abort();
    await server?.close();
    nodes.length = 0;
  });

  test('the page and what it loads come with a policy that lets nothing else run', async () => {
    const url = await start();
    for (const path of ['/', '/page.js', '/page.css', '/mark.svg']) {
      const response = await fetch(url + path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
      await response.body?.cancel();
    }
  });

  test('what does not exist is 404, also above the page folder', async () => {
    const url = await start();
    for (const path of ['/nothing', '/..%2fapp.ts', '/../app.ts']) {
      expect((await fetch(url + path)).status).toBe(404);
    }
  });

  test('an open page gets the view at once and again after a change', async () => {
    const url = await start();
    const response = await fetch(`${url}/api/live`);
    const messages = readMessages(response);
    expect((await messages.next()).value?.nodes).toEqual([]);
    nodes.push({ metadata: { name: 'node-1' }, status: { observedAt: '2026-01-01T00:00:00Z' } });
    for (const listener of listeners) listener();
    expect((await messages.next()).value?.nodes.map(({ name }) => name)).toEqual(['node-1']);
    await messages.return(undefined);
  });

  test('ending lets go of the sources and of open pages', async () => {
    const url = await start();
    const messages = readMessages(await fetch(`${url}/api/live`));
    await messages.next();
    ending.abort();
    expect((await messages.next()).done).toBe(true);
    expect(listeners.size).toBe(0);
  });
});

async function* readMessages(response: Response): AsyncGenerator<View, void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield JSON.parse(text.slice('data: '.length, end)) as View;
      text = text.slice(end + 2);
    }
  }
}
