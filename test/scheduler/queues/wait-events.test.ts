import { expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import type { EventRecord } from '#shared/kube/events/event-recorder.ts';
import { createWaitEvents } from '#scheduler/queues/wait-events.ts';
import { GATE, queueFor, queueWorld } from '#test/shared/decide/queues/queue-world.ts';

test('a pod whose queue is about to be made is told nothing, unless it is still missing after ten seconds', () => {
  const world = queueWorld([queueFor('shop', { childTemplate: {} }, 'teams')]);
  world.see({ name: 'a', gates: [GATE] });
  const events: EventRecord[] = [];
  const tell = createWaitEvents({ record: (event) => void events.push(event) }, () => undefined);
  const told = (now: number): readonly string[] => {
    finish(tell(world.plan(), now));
    return events.splice(0).map(({ note }) => note);
  };
  const missing = 'waits until queue teams.shop is made from the template of queue teams';
  expect([told(0), told(9_999), told(10_000), told(11_000)]).toEqual([[], [], [missing], []]);
});

test('the DaemonSet of a waiting pod has the same Event', () => {
  const world = queueWorld([queueFor('shop', { max: { cpu: 0 } })]);
  for (const name of ['a', 'b']) world.see({ name, gates: [GATE] });
  const events: EventRecord[] = [];
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'logs', uid: 'u', isController: true };
  const daemonSetOf = (uid: string) => (uid === 'uid-a' ? owner : undefined);
  const tell = createWaitEvents({ record: (event) => void events.push(event) }, () => undefined, daemonSetOf);
  finish(tell(world.plan(), 0));
  expect(events.map(({ regarding: { kind, namespace, name } }) => [kind, namespace, name])).toEqual([
    ['Pod', 'shop', 'a'],
    ['DaemonSet', 'shop', 'logs'],
    ['Pod', 'shop', 'b'],
  ]);
});

test('thousands of pods are looked at in steps', () => {
  const world = queueWorld([queueFor('shop', { max: { cpu: 0 } })]);
  for (let index = 0; index < 3_000; index += 1) world.see({ name: `pod-${index}`, gates: [GATE] });
  const tell = createWaitEvents({ record: () => undefined }, () => undefined);
  expect([...tell(world.plan(), 0)].length).toBe(3);
});

test('a pod that was let in and finds no node is told when it gives its share back, and again later', () => {
  const world = queueWorld([queueFor('shop')]);
  world.see({ name: 'big', admittedTo: 'of-shop', cpu: 9 });
  const events: EventRecord[] = [];
  const tell = createWaitEvents({ record: (event) => void events.push(event) }, () => undefined);
  const told = (now: number): number => {
    finish(tell(world.plan(false, 'Guarantees', { now }), now));
    return events.splice(0).filter(({ note }) => note.includes('has found no node for')).length;
  };
  expect([0, 300_000, 301_000, 360_000, 361_000, 900_000].map(told)).toEqual([0, 1, 0, 1, 0, 1]);
});

test('a leader tells pods that began to wait when none was alive, and not those that an earlier one has told', () => {
  const world = queueWorld([queueFor('shop', { max: { cpu: 0 } })]);
  world.see({ name: 'a', gates: [GATE] });
  const toldAfter = (formerUntil: number): readonly number[] => {
    const events: EventRecord[] = [];
    const tell = createWaitEvents(
      { record: (event) => void events.push(event) },
      () => undefined,
      undefined,
      formerUntil,
    );
    return [3_700_000, 3_701_000].map((now) => {
      finish(tell(world.plan(), now));
      return events.splice(0).length;
    });
  };
  // The pod waits since 0.
  expect([toldAfter(0), toldAfter(5_000), toldAfter(60_000)]).toEqual([
    [1, 0],
    [1, 0],
    [0, 0],
  ]);
});
