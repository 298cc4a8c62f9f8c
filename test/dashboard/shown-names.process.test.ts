import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Admit, admitAll } from '#dashboard/access/admit.ts';
import { limitedViewer } from '#dashboard/access/viewer.ts';
import { dashboardApp } from '#dashboard/app.ts';
import { eventEntry, recordedRemovals, timelineOf } from '#dashboard/views/timeline.ts';
import { nodeView } from '#dashboard/views/node-view.ts';
import type { NodeView } from '#dashboard/views/view.ts';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';
import { serve, type Server } from '#shared/http/serve.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { findChromium, startBrowser } from './browser.ts';
import { generateCluster } from './generated-cluster.ts';

const log = createLog({ component: 'test', level: 'silent', format: 'json' });
const PAGES = ['#/nodes', '#/nodes/node-1', '#/timeline', '#/priorities'];
const TIMEOUT_MS = 60_000;
const UNTIL = '2999-01-01T00:00:00Z';
/** An image that cannot be loaded runs its handler, without any script element. */
const MARKUP = '<img src="x" onerror="document.title=1"><i class="injected">tenant</i>';
const isRun = findChromium() !== undefined || process.env['CI'] !== undefined;
/** Sees the pods of `team-a` and `b`, not those of `team-a-b`, `x-team-a` and `team`. */
const tenant: Admit = () =>
  Promise.resolve({ kind: 'admitted', viewer: limitedViewer((name) => Promise.resolve(/^(?:team-a|b)$/.test(name))) });

/** A node whose texts are all of one kind. */
function nodeOf(texts: { readonly whys: readonly string[]; readonly owners: readonly string[] }): NodeView {
  const time = new Date().toISOString();
  const because = (text: string) => ({ code: 'ExceedsRequests', text, facts: {} });
  const because0 = because(texts.whys[0] ?? '');
  const avoid = texts.owners.flatMap((namespace) =>
    texts.whys.map((cause) => ({ owner: { namespace, kind: 'ReplicaSet', name: 'web' }, until: UNTIL, cause })),
  );
  const pods = texts.owners.map((namespace) => ({ pod: `${namespace}/web-0`, uid: `u-${namespace}` }));
  const evicted = { signal: 'memory.available', stage: 'severe', outcome: 'evicted', requestedAt: time };
  const conditions = [{ type: 'Memory', status: 'True', reason: 'Pressure', message: texts.whys[0] }];
  const status = {
    observedAt: time,
    mode: 'Enforce',
    policy: 'p',
    conditions,
    signals: [],
    next: pods.flatMap((pod) =>
      texts.whys.map((why) => ({ ...pod, usage: '2Gi', request: '1Gi', because: because(why) })),
    ),
    evictions: pods.map((pod) => ({ ...pod, ...evicted, because: because0 })),
  };
  return nodeView(
    decodeNodePressure({ metadata: { name: 'node-1' }, spec: { avoid }, status }),
    Date.now(),
  ) as NodeView;
}

describe.runIf(isRun)('names and texts on the page, in Chromium', { timeout: TIMEOUT_MS }, () => {
  const ending = new AbortController();
  const servers: Server[] = [];
  let browser: Browser;

  async function start(node: NodeView, notes: readonly string[], admit: Admit): Promise<string> {
    const at = { eventTime: new Date().toISOString(), reportingController: 'default-scheduler', reason: 'Preempted' };
    const events = notes.map((note, index) => {
      const regarding = { kind: 'Pod', namespace: 'team-a', name: `web-${index}` };
      return eventEntry({ ...at, metadata: { name: `e${index}` }, regarding, note }, Date.now());
    });
    const timeline = timelineOf({
      nodes: [node],
      events: events.filter((each) => each !== undefined),
      recorded: recordedRemovals([]),
    });
    const sources = { ...generateCluster(1, Date.now()).sources, nodes: () => [node], timeline: () => timeline };
    const handler = dashboardApp({ sources, admit, clock: systemClock, log, signal: ending.signal });
    const server = await serve({ handler, host: '127.0.0.1', port: 0, drainMs: 100 });
    servers.push(server);
    return server.url;
  }

  beforeAll(async () => {
    browser = await startBrowser();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser.close();
    ending.abort();
    await Promise.all(servers.map((server) => server.close()));
  });

  /** What each page says, and how many elements of these it has. */
  async function read(url: string, selector: string): Promise<readonly (readonly [string, number])[]> {
    const page = await browser.newPage();
    const found: (readonly [string, number])[] = [];
    for (const hash of PAGES) {
      await page.goto('about:blank');
      await page.goto(`${url}/${hash}`);
      await page.locator('.panel').first().waitFor();
      found.push([await page.locator('body').innerText(), await page.locator(selector).count()]);
    }
    await page.close();
    return found;
  }

  test('a name that contains one of the viewer is hidden as a whole, and none is cut', async () => {
    const whys = [
      'before team-a-b/web-0: its priority is lower',
      'preempted by team-a-b/ReplicaSet/team-a, 3 times',
      'pods of x-team-a/ReplicaSet/web-team-a return, as those of team-a/ReplicaSet/web do',
      'evicted with team/team-a-0 and b/web',
    ];
    const node = nodeOf({ whys, owners: ['team-a', 'b', 'team-a-b', 'x-team-a', 'team'] });
    const [, ofNode = ['', 0], timeline = ['', 0]] = await read(await start(node, whys, tenant), 'body');
    for (const [text] of [ofNode, timeline]) {
      expect(text).toContain('before a pod of another namespace: its priority is lower');
      expect(text).toContain('preempted by an owner of another namespace, 3 times');
      expect(text).toContain('pods of an owner of another namespace return, as those of team-a/ReplicaSet/web do');
      expect(text).toContain('evicted with a pod of another namespace and b/web');
      expect(text).not.toMatch(/team-a-b|x-team-a|team-a-0|\bteam\//);
    }
    const owners = ofNode[0].match(/\S+\/ReplicaSet\/web\b/g) ?? [];
    expect(new Set(owners)).toEqual(new Set(['team-a/ReplicaSet/web', 'b/ReplicaSet/web']));
  });

  test('text that looks like markup is text, wherever it is shown (T-94)', async () => {
    const node = nodeOf({ whys: [MARKUP], owners: ['team-a'] });
    const pages = await read(await start(node, [MARKUP], admitAll), '.injected, img[src="x"]');
    expect(pages.map(([, count]) => count)).toEqual(PAGES.map(() => 0));
    const [, ofNode, timeline] = pages;
    // As condition, as reason of a candidate and of an eviction, and as cause of an entry.
    expect(ofNode?.[0].split(MARKUP)).toHaveLength(5);
    expect(timeline?.[0]).toContain(MARKUP);
  });
});
