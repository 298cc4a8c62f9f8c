import { expect, test } from 'vitest';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { PodGroups } from '#scheduler/queues/pod-groups.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';

const ok = (spec: object): Outcome<unknown> => ({
  kind: 'ok',
  object: { metadata: { name: 'a' }, spec },
  warnings: [],
});
const missing = { kind: 'notFound', message: '', status: 404 } as unknown as Outcome<unknown>;
const forbidden = { kind: 'forbidden', message: '', status: 403 } as unknown as Outcome<unknown>;
const group = (name = 'a', namespace = 'shop') => ({ api: 'scheduling.k8s.io', namespace, name }) as const;
const GANG = { schedulingPolicy: { gang: { minCount: 4 } } };

function world(answer: (path: string) => Outcome<unknown>) {
  const clock = manualClock(0);
  const { client, requests } = scriptedClient(({ path }) => answer(path));
  const groups = new PodGroups({ client, clock });
  const read = () => groups.read(new AbortController().signal);
  return { clock, groups, read, paths: () => requests.splice(0).map(({ path }) => path) };
}

test('a group is read once a pass asks for it, and nothing is read before or too soon again', async () => {
  const { groups, read, paths, clock } = world((path) => (path.includes('v1alpha2') ? ok(GANG) : missing));
  await read();
  expect([paths(), groups.minOf(group())]).toEqual([[], 'Unread']);
  await read();
  expect([groups.minOf(group()), groups.changes, paths()]).toEqual([
    4,
    1,
    ['v1beta1', 'v1alpha3', 'v1alpha2'].map(
      (version) => `/apis/scheduling.k8s.io/${version}/namespaces/shop/podgroups/a`,
    ),
  ]);
  await read();
  expect(paths()).toEqual([]);
  await clock.advance(30_000);
  groups.minOf(group());
  await read();
  expect([paths().length, groups.changes]).toEqual([3, 1]);
});

test.each([
  ['a gang', 'scheduling.k8s.io', GANG, 4],
  ['pods one by one', 'scheduling.k8s.io', { schedulingPolicy: { basic: {} } }, 'None'],
  ['more than is planned', 'scheduling.k8s.io', { schedulingPolicy: { gang: { minCount: 1_000_000 } } }, 'None'],
  ['a group of coscheduling', 'scheduling.x-k8s.io', { minMember: 3 }, 3],
  ['one without a minimum', 'scheduling.x-k8s.io', {}, 'None'],
] as const)('%s', async (_, api, spec, expected) => {
  const { groups, read } = world(() => ok(spec));
  groups.minOf({ ...group(), api });
  await read();
  expect(groups.minOf({ ...group(), api })).toBe(expected);
});

test('pods wait a minute for a group that is not there or may not be read, and then go in one by one', async () => {
  for (const answer of [missing, forbidden]) {
    const { groups, read, clock } = world(() => answer);
    const found: unknown[] = [];
    for (let passed = 0; passed < 3; passed += 1) {
      groups.minOf(group());
      await read();
      found.push(groups.minOf(group()));
      await clock.advance(30_000);
    }
    expect(found).toEqual([undefined, undefined, 'None']);
  }
});

test('a group that was read keeps its minimum while it cannot be read', async () => {
  let answer = ok(GANG);
  const { groups, read, clock } = world(() => answer);
  groups.minOf(group());
  await read();
  answer = forbidden;
  await clock.advance(600_000);
  groups.minOf(group());
  await read();
  expect(groups.minOf(group())).toBe(4);
});

test('a tenant that names thousands of groups makes nobody else wait', async () => {
  const { groups, read, paths } = world(() => ok(GANG));
  for (let index = 0; index < 5_000; index += 1) groups.minOf(group(`g${index}`, 'greedy'));
  groups.minOf(group('a', 'shop'));
  await read();
  expect([paths().length, groups.minOf(group('a', 'shop'))]).toEqual([20, 4]);
});

test('however many groups a tenant names, and however often, those of others are read', async () => {
  const { groups, read } = world(() => ok(GANG));
  const pass = () => {
    const min = groups.minOf(group('a', 'shop'));
    for (let index = 0; index < 10_001; index += 1) groups.minOf(group(`g${index}`, 'greedy'));
    return min;
  };
  pass();
  await read();
  expect(pass()).toBe(4);
});

test('namespaces that always ask for more groups make no other wait for long', async () => {
  const { groups, read } = world(() => ok(GANG));
  const ask = (second: number) => {
    for (let index = 0; index < 250; index += 1)
      groups.minOf(group(`g${second}-${index}`, `busy-${Math.floor(index / 10)}`));
  };
  ask(-1);
  groups.minOf(group('a', 'shop'));
  for (let second = 0; second < 3; second += 1) {
    ask(second);
    await read();
  }
  expect(groups.minOf(group('a', 'shop'))).toBe(4);
});

test('pods wait a minute for a group that was deleted, and then go in one by one', async () => {
  let answer = ok(GANG);
  const { groups, read, clock } = world(() => answer);
  groups.minOf(group());
  await read();
  answer = missing;
  const found: unknown[] = [];
  for (let passed = 0; passed < 3; passed += 1) {
    await clock.advance(30_000);
    groups.minOf(group());
    await read();
    found.push(groups.minOf(group()));
  }
  expect(found).toEqual([4, 4, 'None']);
});
