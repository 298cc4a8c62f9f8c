import { describe, expect, test } from 'vitest';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { createPodLookUp } from '#webhook/cluster-state/pod-look-up.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { selectorOf } from '#test/build/cluster.ts';

const OWN = { namespace: 'team-a', selector: undefined };

/** A name says how large its pod is: `a*1000` is one of more than 1,000 bytes. */
function podList(names: readonly string[], token?: string): Outcome<unknown> {
  const items = names.map((name) => ({
    metadata: { name, namespace: 'team-a', annotations: { fat: 'x'.repeat(Number(name.split('*')[1] ?? 0)) } },
    spec: { containers: [{ name: 'c' }] },
  }));
  return { kind: 'ok', object: { metadata: { ...(token && { continue: token }) }, items } } as Outcome<unknown>;
}

function lookUpWith(answer: (request: KubeRequest) => Outcome<unknown> | Promise<Outcome<unknown>>) {
  const clock = manualClock();
  const { client, requests: asked } = scriptedClient(answer);
  return { lookUp: createPodLookUp(client, clock), asked, clock };
}

describe('looking pods up', () => {
  test('asks for one bounded page with a deadline of its own, and only for what is selected', async () => {
    const { lookUp, asked } = lookUpWith(() => podList(['a']));
    const { pods } = await lookUp([{ namespace: 'team-a', selector: selectorOf({ app: 'x' }) }]);
    expect(pods.map(({ name }) => name)).toEqual(['a']);
    expect(asked).toMatchObject([
      { path: '/api/v1/namespaces/team-a/pods', query: { limit: 250, labelSelector: 'app in (x)' }, timeoutMs: 250 },
    ]);
  });

  test('says when there are more pods than it reads', async () => {
    const { lookUp } = lookUpWith(() => podList(['a'], 'next'));
    expect(await lookUp([OWN])).toMatchObject({ isPartial: true });
  });

  test('passes over very large pods, and reads no more than four MiB', async () => {
    const { lookUp } = lookUpWith(() => podList(['a', 'b*70000', 'c']));
    const { pods, isPartial } = await lookUp([OWN]);
    expect([pods.map(({ name }) => name), isPartial]).toEqual([['a', 'c'], true]);
    const many = Array.from({ length: 250 }, (_, each) => `${each}*60000`);
    const { lookUp: again } = lookUpWith(() => podList(many));
    const some = await again([OWN]);
    expect([some.pods.length, some.isPartial]).toEqual([69, true]);
    expect(some.pods.every(({ annotations }) => annotations.size === 0)).toBe(true);
  });

  test('knows nothing where nothing can be read, and does not ask again at once', async () => {
    const { lookUp, asked } = lookUpWith(() => ({ kind: 'serverError', message: 'broken' }));
    expect(await lookUp([OWN])).toEqual({ pods: [], isPartial: false });
    await lookUp([OWN]);
    expect(asked.length).toBe(1);
  });

  test('remembers for five seconds, and only the last sixteen searches', async () => {
    const { lookUp, asked, clock } = lookUpWith(() => podList([]));
    await lookUp([OWN]);
    await clock.advance(4_999);
    await lookUp([OWN]);
    expect(asked.length).toBe(1);
    await clock.advance(1);
    await lookUp([OWN]);
    expect(asked.length).toBe(2);
    for (let each = 0; each < 16; each += 1) await lookUp([{ namespace: `n${each}`, selector: undefined }]);
    await lookUp([OWN]);
    expect(asked.length).toBe(19);
  });

  test('remembers no more than four MiB', async () => {
    const names = Array.from({ length: 50 }, (_, each) => `${each}*60000`);
    const { lookUp, asked } = lookUpWith(() => podList(names));
    const other = { namespace: 'team-b', selector: undefined };
    await lookUp([OWN]);
    await lookUp([other]);
    await lookUp([other]);
    expect(asked.length).toBe(2);
    await lookUp([OWN]);
    expect(asked.length).toBe(3);
  });

  test('never has more than eight requests under way', async () => {
    const { promise, resolve } = Promise.withResolvers<Outcome<unknown>>();
    const { lookUp, asked } = lookUpWith(() => promise);
    const all = lookUp(Array.from({ length: 12 }, (_, each) => ({ namespace: `n${each}`, selector: undefined })));
    expect(asked.length).toBe(8);
    resolve(podList(['a']));
    expect((await all).pods.length).toBe(1);
    await lookUp([OWN]);
    expect(asked.length).toBe(9);
  });

  test('does not send a selector of any length', async () => {
    const { lookUp, asked } = lookUpWith(() => podList([]));
    const matchLabels = new Map(Array.from({ length: 200 }, (_, each) => [`label-${each}`, 'value']));
    await lookUp([{ namespace: 'team-a', selector: { matchLabels, matchExpressions: [] } }]);
    expect(asked).toEqual([]);
  });
});
