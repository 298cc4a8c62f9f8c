import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { patternOf } from '#test/build/pattern-of.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { ownEvictions } from './support/own-evictions.ts';
import { NAMESPACES, runWebhook, type RunningWebhook } from './support/webhook-process.ts';

const NODE_POLICIES = '/apis/plimsoll.dev/v1alpha1/nodepressurepolicies';
const SHARED = { evictions: { perMinute: 5 } };
const FLOOD = 8;
/** Long enough for counting to be what all evictions wait for. */
const COUNT_MS = 25;
const HONEST = 4;
/** Evictions that a stolen token keeps open. */
const AT_ONCE = 150;
const OTHERS = Array.from({ length: 8 }, (_, index) => `other-${index}`);
/** Without lanes, nearly none of so many asks gets a decision. */
const ASKS = 3;
/** Not much less than the 30 % of `requestSeconds` that an eviction waits in its lane. */
const REFUSED_AFTER_MS = 400;
/** The flood is at its height. */
const FLOODED_MS = 1_000;
/** The one under way, one of the other node, the own one, and one that begins meanwhile; without turns it is eight. */
const MAX_TURNS = 4;
/** All that is read to decide about an eviction, but for the caches that the webhook fills when it starts. */
const READ = /\/pods\/p\d+$|nodepressurepolicies$|\/namespaces\/team-a$|\/nodes\/node-/;
const BUSY = patternOf((cause) => MESSAGES.overloaded.text({ cause }));
const UNCLEAR = patternOf((cause) => MESSAGES.evictionUnclear.text({ cause }));

describe('floods of evictions', () => {
  let webhook: RunningWebhook;
  const { given, evict } = ownEvictions(() => webhook);
  beforeAll(async () => {
    const listed = new Set<string>();
    webhook = await runWebhook(
      (api) => {
        api.onRequest = ({ path }) => void listed.add(path);
        for (const name of ['team-a', 'apart']) api.put(NAMESPACES, { metadata: { name } });
        for (const name of ['node-a', 'node-b', ...OTHERS])
          api.put('/api/v1/nodes', { metadata: { name, labels: { name } } });
        const limits = { perMinute: 100, perTenMinutes: 100, perNamespacePerTenMinutes: 100 };
        api.put(NODE_POLICIES, { metadata: { name: 'many' }, spec: { mode: 'Enforce', limits } });
      },
      SHARED,
      AT_ONCE + OTHERS.length,
    );
    // The webhook is ready before the replica that leads has its caches.
    await eventually(() => expect(listed).toContain(NODE_POLICIES));
    webhook.api.onRequest = () => undefined;
  });
  afterAll(() => webhook.stop());

  async function evictUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) await evict(given('node-a'));
  }

  test('a flood for pods of another node costs the API server one read of the pod each', async () => {
    const victims = Array.from({ length: 5 }, () => given('node-b'));
    const asked: string[] = [];
    webhook.api.onRequest = ({ method, path, isWatch }) => {
      if (!isWatch && READ.test(path)) asked.push(`${method} ${path}`);
      return undefined;
    };
    const answers = await Promise.all(victims.map((victim) => evict(victim)));
    webhook.api.onRequest = () => undefined;
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([403]));
    const pods = victims.map(({ metadata }) => `GET /api/v1/namespaces/team-a/pods/${String(metadata['name'])}`);
    expect(asked.toSorted()).toEqual(pods.toSorted());
  });

  test('evictions are counted in turns, so that no node waits for all that another asks', async () => {
    const over = new AbortController();
    const floods = Array.from({ length: FLOOD }, () => evictUntil(over.signal));
    let counts = 0;
    webhook.api.onRequest = ({ path, method }) => {
      if (!path.includes('disruptionaccounts/plimsoll-evictions')) return undefined;
      if (method === 'GET') counts += 1;
      return { kind: 'delay', ms: COUNT_MS };
    };
    const last = { countsBefore: Number.NaN };
    webhook.api.onAnswered = ({ path }) => {
      if (path.includes('namespaces/apart/poddisruptionbudgets')) last.countsBefore = counts;
    };
    const waited: number[] = [];
    while (waited.length < HONEST) {
      const enough = counts + FLOOD;
      await eventually(() => expect(counts).toBeGreaterThan(enough));
      last.countsBefore = Number.NaN;
      const { message } = await evict(given('node-b', {}, { namespace: 'apart' }), { node: 'node-b' });
      // On a busy machine some have no time to be counted.
      if (!Number.isNaN(last.countsBefore) && !UNCLEAR.test(message ?? '')) waited.push(counts - last.countsBefore);
    }
    over.abort();
    await Promise.all(floods);
    webhook.api.onRequest = () => undefined;
    webhook.api.onAnswered = () => undefined;
    expect(
      waited.reduce((sum, each) => sum + each),
      waited.join(' '),
    ).toBeLessThanOrEqual(HONEST * MAX_TURNS);
  });

  /** The answer to an agent, which asks again a few times where a busy machine had no time to decide. */
  async function decided(node: string): Promise<string> {
    let text = '';
    for (let ask = 0; ask < ASKS; ask += 1) {
      const { message = '' } = await evict(given(node, {}, { namespace: 'apart' }), { node });
      text = message;
      if (!UNCLEAR.test(text) && !BUSY.test(text)) return text;
    }
    return text;
  }

  test.each([
    ['its own pods', 'node-a'],
    ['the pods of another node', 'node-b'],
  ])(
    `while the token of one node keeps ${AT_ONCE} evictions of %s open, every other agent gets a decision`,
    async (_, of) => {
      const over = new AbortController();
      const flood = async (): Promise<void> => {
        const victim = given(of);
        while (!over.signal.aborted) {
          const { message = '' } = await evict(victim);
          if (BUSY.test(message)) refused += 1;
        }
      };
      let refused = 0;
      const began = performance.now();
      const floods = Array.from({ length: AT_ONCE }, flood);
      await letTimePass(FLOODED_MS, 'load');
      const answers = await Promise.all(OTHERS.map(decided));
      over.abort();
      await Promise.all(floods);
      // Refused at once, the flood asks thousands of times a second, and keeps the process busy.
      expect(refused).toBeLessThanOrEqual((AT_ONCE * (performance.now() - began)) / REFUSED_AFTER_MS);
      const undecided = answers.filter((text) => UNCLEAR.test(text) || BUSY.test(text));
      expect(undecided).toEqual([]);
    },
  );
});
