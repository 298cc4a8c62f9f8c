import { expect, test } from 'vitest';
import { podSituation } from '#shared/decide/pods/pod-situation.ts';
import { waitingSubjects } from '#scheduler/queues/wait-reasons.ts';
import { GATE, queueFor, queueWorld, rawPod, type WatchedPod } from '#test/shared/decide/queues/queue-world.ts';

const gang = (name: string, size: string): Readonly<Record<string, string>> => ({
  'plimsoll.dev/gang': name,
  'plimsoll.dev/gang-size': size,
});

const PODS: readonly WatchedPod[] = [
  ...['a', 'b'].map((name) => ({ name, labels: gang('few', '8') })),
  ...['c', 'd'].map((name) => ({ name, cpu: 6, labels: gang('large', '2') })),
  { name: 'e', labels: gang('unclear', '2') },
  { name: 'f', labels: gang('unclear', '3') },
  { name: 'g', labels: gang('wrong', '1000000') },
].map((pod) => ({ gates: [GATE], ...pod }));

test('each pod of a gang that waits is told why, with the numbers', () => {
  const world = queueWorld([queueFor('shop', { max: { cpu: 8 } })]);
  for (const pod of PODS) world.see(pod);
  const subjects = [...waitingSubjects(world.plan(), () => undefined, 100_000)];
  const told = Object.fromEntries(subjects.map(({ address, why }) => [address().name, why()]));
  const unclear = 'the pods of gang shop/unclear name different sizes: 2 (1 of its pods), 3 (1 of its pods)';
  const large = 'gang shop/large needs 12 cpu for 2 pods; queue of-shop has at most 8';
  expect(Object.fromEntries(Object.entries(told).map(([name, { text }]) => [name, text]))).toEqual({
    a: 'waits for 6 of 8 pods of gang shop/few',
    b: 'waits for 6 of 8 pods of gang shop/few',
    c: large,
    d: large,
    e: unclear,
    f: unclear,
    g: 'plimsoll.dev/gang-size must be a whole number from 1 to 1000, not "1000000"',
  });
  // What commands and the page show of a pod is the condition that the leader writes from this.
  const { code = '', text = '' } = told['c'] ?? {};
  const condition = { type: 'plimsoll.dev/WaitsInQueue', status: 'True', reason: code, message: text };
  const raw = rawPod({ ...(PODS[2] as WatchedPod), conditions: [condition] });
  expect(podSituation({ name: 'c', raw, events: [], removals: [] })).toMatchObject({
    state: 'Waits',
    because: { code: 'GangTooLarge', text: large },
  });
});
