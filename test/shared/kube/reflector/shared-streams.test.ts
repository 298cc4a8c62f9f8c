import { expect, test } from 'vitest';
import { createReflector } from '#shared/kube/reflector/reflector.ts';
import { SharedStreams } from '#shared/kube/reflector/shared-streams.ts';
import { PROMPT_BACKOFF, REFLECTOR_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import type { Resource } from '#shared/kube/resource.ts';
import { createLog } from '#shared/runtime/log.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { watchServer } from '#test/fakes/watch-server.ts';
import { SECOND, settle } from './reflector-rig.ts';

const THINGS: Resource = { group: '', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };

function scene() {
  const [server, clock, streams, stop] = [watchServer(), manualClock(), new SharedStreams(), new AbortController()];
  const log = createLog({ component: 'test', level: 'silent', format: 'json' });
  const options = { client: server.client, resource: THINGS, clock, random: () => 1, log, streams };
  const values = { ...options, slim: (raw: object) => Number((raw as { value: unknown }).value) };
  const asked = (what: 'lists' | 'watches') =>
    server.requests.filter(({ query }) => (query?.['watch'] === true) === (what === 'watches'));
  return { server, clock, streams, stop, options, values, asked };
}

test('readers of one kind share a list and a watch, and each keeps its own fields', async () => {
  const { server, clock, streams, stop, options, values, asked } = scene();
  const numbers = createReflector(values);
  const names = createReflector({ ...options, slim: ({ metadata }) => metadata.name });
  const odd = createReflector({
    ...options,
    slim: (raw) => (Number(raw['value']) % 2 === 1 ? raw['value'] : undefined),
  });
  server.put('a', 1);
  expect([numbers.isSynced(), numbers.position(), numbers.lastContactMs()]).toEqual([false, '', undefined]);
  const running = streams.run(stop.signal);
  await settle(clock);
  await Promise.all([numbers, names, odd].map(({ synced }) => synced));
  server.put('b', 2);
  server.put('a', 3);
  await settle(clock);
  expect([numbers, names, odd].map((each) => [...each.values()])).toEqual([[3, 2], ['a', 'b'], [3]]);
  server.remove('a');
  await settle(clock);
  expect([numbers, names, odd].map((each) => [...each.values()])).toEqual([[2], ['b'], []]);
  expect([asked('lists').length, asked('watches').length]).toEqual([1, 1]);
  expect(new Set([numbers, names, odd].map((each) => each.position())).size).toBe(1);
  expect([numbers, names].map((each) => each.lastContactMs())).not.toContain(undefined);
  stop.abort();
  await running;
});

test('what vanished while no watch was open leaves every reader', async () => {
  const { server, clock, streams, stop, options, values } = scene();
  const numbers = createReflector(values);
  const names = createReflector({ ...options, slim: ({ metadata }) => metadata.name });
  server.put('a', 1);
  server.put('b', 2);
  server.watchFaults.push({ kind: 'goneInStream', after: 0 });
  const running = streams.run(stop.signal);
  await settle(clock);
  server.remove('a');
  await clock.advance(2 * SECOND);
  expect([numbers, names].map((each) => [...each.values()])).toEqual([[2], ['b']]);
  stop.abort();
  await running;
});

test.each([
  ['the metadata if no reader needs more', [true, true], /as=PartialObjectMetadata/],
  ['whole objects if one reader needs them', [true, false], /^undefined$/],
])('asks for %s', async (_, needs, accept) => {
  const { clock, streams, stop, values, server } = scene();
  for (const isMetadataOnly of needs) createReflector({ ...values, isMetadataOnly });
  const running = streams.run(stop.signal);
  await settle(clock);
  expect(server.requests.length).toBeGreaterThan(1);
  for (const request of server.requests) expect(String(request.accept)).toMatch(accept);
  stop.abort();
  await running;
});

test('other selectors and namespaces are other collections', async () => {
  const { clock, streams, stop, values, asked } = scene();
  for (const part of [{}, { namespace: 'a' }, { fieldSelector: 'a=b' }, { labelSelector: 'a=b' }, {}])
    createReflector({ ...values, ...part });
  const running = streams.run(stop.signal);
  await settle(clock);
  expect([asked('lists').length, asked('watches').length]).toEqual([4, 4]);
  stop.abort();
  await running;
});

test('after a failure, the most urgent reader decides how long to wait', async () => {
  const { clock, streams, stop, values, server, asked } = scene();
  for (const backoff of [REFLECTOR_BACKOFF, PROMPT_BACKOFF]) createReflector({ ...values, backoff });
  server.listFaults.push(...Array.from({ length: 6 }, () => ({ kind: 'unreachable' }) as const));
  const running = streams.run(stop.signal);
  await settle(clock);
  for (let second = 0; second < 40; second += 1) await clock.advance(SECOND);
  expect(asked('lists').length).toBe(7);
  stop.abort();
  await running;
});

test('a reader that is created while the streams run reads alone', async () => {
  const { server, clock, streams, stop, values, asked } = scene();
  createReflector(values);
  const running = streams.run(stop.signal);
  await settle(clock);
  server.put('a', 1);
  const late = createReflector(values);
  const reading = late.run(stop.signal);
  await settle(clock);
  expect([[...late.values()], asked('watches').length]).toEqual([[1], 2]);
  stop.abort();
  await Promise.all([running, reading]);
});
