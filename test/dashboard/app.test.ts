import { readFileSync, statSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { type Admit, admitAll } from '#dashboard/access/admit.ts';
import { SEES_ALL } from '#dashboard/access/viewer.ts';
import type { Update } from '#dashboard/viewer-update.ts';
import type { View } from '#dashboard/views/view.ts';
import { generateCluster } from './generated-cluster.ts';
import { servedDashboard, tenant } from './served-dashboard.ts';

/** What the page is without data. */
const INDEX = new URL('../../dashboard/public/index.html', import.meta.url);
const ASSETS = ['page.js', 'page.css', 'mark.svg'];
/** Nothing but what the page itself is made of, and nothing inline. */
const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

function directivesOf({ headers }: Response): Record<string, string> {
  const directives = (headers.get('content-security-policy') ?? '').split(';').map((each) => each.trim().split(' '));
  return Object.fromEntries(directives.map(([name = '', ...sources]) => [name, sources.join(' ')]));
}

/** Open pages at once; one more is 503. */
const MAX_PAGES = 100;
const noCredentials: Admit = () => Promise.resolve({ kind: 'refused', status: 401, message: 'send a token' });
describe('dashboardApp', () => {
  const cluster = generateCluster(20, Date.now());
  const { start, end, stop } = servedDashboard(cluster.sources);

  afterEach(stop);

  test('the page and what it loads come with a policy that lets nothing else run', async () => {
    const url = await start();
    for (const path of ['', ...ASSETS]) {
      const response = await fetch(`${url}/${path}`);
      expect([path, response.status]).toEqual([path, 200]);
      expect(directivesOf(response)).toEqual(POLICY);
      await response.body?.cancel();
    }
  });

  test('the page is small: what it loads has at most 180 kB', () => {
    const sizes = ASSETS.map((name) => statSync(new URL(`../../dashboard/public/${name}`, import.meta.url)).size);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(180_000);
  });

  test('what does not exist is 404, also above the page folder, and nothing can be written', async () => {
    const url = await start();
    for (const path of ['/nothing', '/page.ts', '/..%2fapp.ts', '/../app.ts'])
      expect((await fetch(url + path)).status).toBe(404);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect((await fetch(`${url}/api/view`, { method })).status).toBe(404);
  });

  test('without credentials there is no data: 401 with what to do, and a page that asks for a token', async () => {
    const url = await start(noCredentials);
    for (const path of ['/api/view', '/api/live', '/api/live?node=node-000']) {
      const response = await fetch(url + path);
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="plimsoll"']);
      expect(await response.json()).toMatchObject({ message: 'send a token' });
    }
    const page = await fetch(url);
    expect([page.status, await page.text()]).toEqual([401, readFileSync(INDEX, 'utf8')]);
  });

  test('an open page gets everything at once, and after a change only what changed', async () => {
    const messages = readMessages(await fetch(`${await start()}/api/live`));
    const first = (await messages.next()).value;
    expect(first).toMatchObject({ isLimited: false, gone: [] });
    expect([first?.nodes.length, first?.classes?.length, first?.quotas?.length]).toEqual([20, 3, 1]);
    cluster.change(Date.now(), 10);
    const next = (await messages.next()).value;
    expect(next?.nodes.map(({ name }) => name)).toEqual(['node-000', 'node-010']);
    expect([next?.classes, next?.quotas]).toEqual([undefined, undefined]);
    await messages.return(undefined);
  });

  test('the page of a node gets its details and its history; one that does not exist gets null', async () => {
    const url = await start();
    const read = async (name: string) => {
      const messages = readMessages(await fetch(`${url}/api/live?node=${name}`));
      const update = (await messages.next()).value;
      await messages.return(undefined);
      return update;
    };
    const found = await read('node-009');
    expect(found?.node?.candidates).toHaveLength(10);
    expect(found?.history?.times.length).toBeGreaterThan(10);
    expect((await read('no-such-node'))?.node).toBeNull();
  });

  test('a tenant sees no name of a pod of another namespace, neither live nor as JSON', async () => {
    const url = await start(tenant);
    const messages = readMessages(await fetch(`${url}/api/live?node=node-000`));
    const update = (await messages.next()).value;
    await messages.return(undefined);
    const view = (await (await fetch(`${url}/api/view`)).json()) as View;
    for (const shown of [update, view]) {
      const text = JSON.stringify(shown);
      expect(text).toContain('team-1/worker-0-1');
      expect(text).not.toMatch(/team-0|team-2|thumbnails|\b4711\b/);
      // Of its own namespace it sees who made room, its share of a quota, its reservation and its pods that went for a queue.
      for (const own of ['team-1/batch-1', '1.5Ti requests.memory', 'team-1/web-7', 'team-1/report"'])
        expect(text).toContain(own);
    }
    expect(update?.isLimited).toBe(true);
    expect(update?.node?.candidates).toHaveLength(10);
  });

  test('pages that close before their caller is known take no room', async () => {
    const known = Promise.withResolvers<undefined>();
    const gone = Array.from({ length: MAX_PAGES }, () => Promise.withResolvers<undefined>());
    const asking = Array.from({ length: MAX_PAGES }, () => Promise.withResolvers<undefined>());
    let asked = 0;
    const url = await start(async (request) => {
      const place = asked++;
      request.on('close', () => gone[place]?.resolve(undefined));
      asking[place]?.resolve(undefined);
      await known.promise;
      return admitAll(request);
    });
    const leaving = new AbortController();
    const requests = gone.map(() => fetch(`${url}/api/live`, { signal: leaving.signal }).catch(() => undefined));
    await Promise.all(asking.map(({ promise }) => promise));
    leaving.abort();
    await Promise.all([...requests, ...gone.map(({ promise }) => promise)]);
    known.resolve(undefined);
    const response = await fetch(`${url}/api/live`);
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });

  test('one user opens ten pages, and others still open theirs', async () => {
    const url = await start(({ headers }) => {
      const user = String(headers['x-user']);
      return Promise.resolve({ kind: 'admitted', viewer: { ...SEES_ALL, user } });
    });
    const open = (user: string) => fetch(`${url}/api/live`, { headers: { 'x-user': user } });
    const pages = await Promise.all(Array.from({ length: 11 }, () => open('jane')));
    expect(pages.map(({ status }) => status).toSorted()).toEqual([...Array<number>(10).fill(200), 503]);
    const other = await open('kim');
    expect(other.status).toBe(200);
    for (const { body } of [...pages, other]) await body?.cancel();
  });

  test('ending lets go of open pages', async () => {
    const messages = readMessages(await fetch(`${await start()}/api/live`));
    await messages.next();
    end();
    expect((await messages.next()).done).toBe(true);
  });
});

async function* readMessages(response: Response): AsyncGenerator<Update, void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield JSON.parse(text.slice('data: '.length, end)) as Update;
      text = text.slice(end + 2);
    }
  }
}
