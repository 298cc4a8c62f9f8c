import { beforeEach, describe, expect, test } from 'vitest';
import type { Cost, PodFollower } from '#shared/domain/quota/view/pod-group.ts';
import { PodView } from '#shared/domain/quota/view/pod-view.ts';
import { QuotaCounter } from '#shared/domain/quota/view/quota-counter.ts';
import type { SeenPod } from '#shared/domain/quota/view/seen-pod.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { begin, list, NAMES, pod, quota } from './view-builders.ts';

/** Deleted pods that a view remembers, and pods that it goes through at once. */
const MAX_GONE = 10_000;
const PODS_AT_ONCE = 10_000;

let view: PodView;

beforeEach(() => {
  view = new PodView();
  begin(view);
});

function listed(...pods: readonly SeenPod[]): void {
  list(view, pods);
}

/** Notes what a view reports. */
class Notes implements PodFollower {
  readonly all: string[] = [];
  readonly costs = new Set<Cost>();
  podJoined(_group: unknown, cost: Cost | undefined): void {
    this.all.push('joined');
    if (cost !== undefined) this.costs.add(cost);
  }
  podLeft(): void {
    this.all.push('left');
  }
  podsMovedOn(): void {
    this.all.push('moved on');
  }
  namespaceChanged(): void {
    this.all.push('namespace');
  }
}

describe('deleted pods', () => {
  function remove(count: number, from = 0): void {
    for (let index = from; index < from + count; index += 1)
      view.remove({ uid: `pod-${index}`, namespace: 'a', revision: 200 + index });
  }
  const areGone = (...indices: readonly number[]) => indices.map((index) => view.isGone(`pod-${index}`));

  test('are remembered, the last ten thousand of them', () => {
    listed();
    remove(MAX_GONE);
    expect(areGone(0, 1, MAX_GONE - 1)).toEqual([true, true, true]);
    remove(1, MAX_GONE);
    expect(areGone(0, 1, MAX_GONE)).toEqual([false, true, true]);
  });

  test('are all remembered until each namespace is listed, as a list may still show them', () => {
    remove(MAX_GONE + 2);
    expect(areGone(0, 1, 2)).toEqual([true, true, true]);
    listed(pod('pod-0', 90));
    expect([...areGone(0, 1, 2), view.size]).toEqual([false, false, true, 0]);
  });
});

describe('followers', () => {
  let notes: Notes;

  beforeEach(() => {
    listed(pod('x', 90));
    notes = new Notes();
    view.follow(notes);
  });

  const memory = (text: string) => ({ amounts: amountsOf({ pods: '1', memory: text }) });

  test.each<[string, SeenPod, readonly string[]]>([
    ['nothing new of a pod that costs the same', pod('x', 101, { generation: 2 }), []],
    ['nothing new of an earlier state', pod('x', 89, memory('9Gi')), []],
    ['a change of the cost', pod('x', 101, memory('2Gi')), ['left', 'joined']],
    ['a change of the class', pod('x', 101, { level: { className: 'low', priority: 1 } }), ['left', 'joined']],
    ['a pod that cannot be read any more', pod('x', 101, { amounts: undefined }), ['left', 'joined']],
    ['another pod', pod('y', 101), ['joined']],
  ])('learn of %s', (_, seen, expected) => {
    view.put(seen);
    expect(notes.all).toEqual([...expected, 'moved on']);
  });

  test('learn of namespaces that come and go, and nothing of those that are not there', () => {
    view.removeNamespace('unknown');
    view.put(pod('z', 101, { namespace: 'unknown' }));
    view.remove({ uid: 'x', namespace: 'unknown', revision: 102 });
    expect(notes.all).toEqual([]);
    view.addNamespace({ name: 'b', labels: new Map(), revision: 6 });
    view.addNamespace({ name: 'b', labels: new Map(), revision: 7 });
    view.removeNamespace('a');
    expect(notes.all).toEqual(['namespace', 'namespace', 'left', 'namespace']);
  });

  test('see costs given back with the last pod', () => {
    for (const [index, uid] of ['y', 'z', 'y'].entries()) view.put(pod(uid, 101 + index, memory(`${index + 2}Gi`)));
    for (const uid of ['x', 'y', 'z']) view.remove({ uid, namespace: 'a', revision: 110 });
    expect([notes.costs.size, [...notes.costs].map(({ uses }) => uses)]).toEqual([3, [0, 0, 0]]);
    expect(view.namespaces.get('a')?.groups.size).toBe(0);
  });
});

test('a position never goes back, and a watch from the same one forgets nothing', () => {
  listed(pod('x', 90));
  const { life } = view;
  view.reach(50);
  expect(view.position).toBe(100);
  view.begin(100, NAMES);
  expect([view.size, view.life]).toEqual([1, life]);
  view.remove({ uid: 'gone', namespace: 'a', revision: 101 });
  view.begin(99, NAMES);
  expect([view.size, view.isGone('gone')]).toEqual([0, false]);
  expect(view.life).not.toBe(life);
});

test('after revisions went back, only what is listed then counts', () => {
  const counter = new QuotaCounter(view);
  listed(pod('x', 90), pod('odd', 91, { amounts: undefined }));
  expect(counter.count(quota(), '1', 9)?.total.get('pods')?.mantissa).toBe(2);
  view.begin(50, NAMES);
  listed(pod('y', 40));
  const count = counter.count(quota(), '1', 9);
  expect([count?.total.get('pods')?.mantissa, count?.unreadable, count?.holds.pods]).toEqual([1, [], 40]);
});

test('a namespace that is released need not be listed any more', () => {
  expect(view.unlisted.map(({ name }) => name)).toEqual(['a']);
  view.removeNamespace('a');
  expect([view.unlisted, view.isWhole]).toEqual([[], true]);
});

test('deleted pods are searched in steps, once in an epoch', () => {
  listed(...Array.from({ length: PODS_AT_ONCE }, (_, index) => pod(`pod-${index}`, 101 + index)));
  const steps = () => [...view.sweep()].length;
  expect([steps(), steps()]).toEqual([1, 0]);
  view.begin(20_000, NAMES);
  expect(steps()).toBe(0);
  listed(pod('pod-5', 106));
  expect([view.size, steps(), view.size, steps()]).toEqual([PODS_AT_ONCE, 1, 1, 0]);
});
