import { beforeEach, describe, expect, test } from 'vitest';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { PodView } from '#shared/domain/quota/view/pod-view.ts';
import { QuotaCounter } from '#shared/domain/quota/view/quota-counter.ts';
import type { SeenPod } from '#shared/domain/quota/view/seen-pod.ts';
import { amountsOf, selectorOf } from '#test/build/cluster.ts';
import { begin, list, NAMES, pod, quota } from './view-builders.ts';

const RED = new Map([['team', 'red']]);
const OF_RED = { namespaces: prepareSelector(selectorOf({ team: 'red' })) };

let view: PodView;
let counter: QuotaCounter;

beforeEach(() => {
  view = new PodView();
  counter = new QuotaCounter(view);
  begin(view);
});

function listed(...pods: readonly SeenPod[]): void {
  list(view, pods);
}

/** As many namespaces in all, each with a pod if that is said. */
function addNamespaces(count: number): void {
  for (let index = 1; index < count; index += 1)
    view.addNamespace({ name: `n${String(index).padStart(3, '0')}`, labels: new Map(), revision: 6 });
}

describe('what a count has reached, and what it holds', () => {
  test('does not depend on namespaces that are gone, or not its own', () => {
    for (const name of ['b', 'c']) view.addNamespace({ name, labels: RED, revision: 6 });
    listed();
    counter.count(quota(OF_RED), '1', 9);
    view.begin(200, NAMES);
    expect(counter.count(quota(OF_RED), '1', 9)?.reached).toEqual({ pods: 100, namespaces: 9 });
    view.loaded(view.load([...view.namespaces.values()].filter(({ name }) => name === 'b')));
    expect(counter.count(quota(OF_RED), '1', 9)?.reached.pods).toBe(100);
    view.removeNamespace('c');
    expect([view.isWhole, counter.count(quota(OF_RED), '1', 9)?.reached.pods]).toEqual([false, 200]);
  });

  test('is not moved on by pods of other namespaces, nor by what an earlier scope held', () => {
    view.addNamespace({ name: 'b', labels: RED, revision: 6 });
    listed(pod('x', 90), pod('y', 80, { namespace: 'b' }));
    const holds = (version: string, of = quota(OF_RED)) => counter.count(of, version, 9)?.holds;
    expect(holds('1')).toEqual({ pods: 80, namespaces: 6 });
    view.put(pod('z', 300));
    view.addNamespace({ name: 'a', labels: new Map(), revision: 301 });
    expect(holds('1')).toEqual({ pods: 80, namespaces: 6 });
    expect(holds('2', quota())).toEqual({ pods: 300, namespaces: 301 });
    expect(holds('3')).toEqual({ pods: 80, namespaces: 6 });
    view.addNamespace({ name: 'b', labels: RED, revision: 400 });
    expect(holds('3')).toEqual({ pods: 80, namespaces: 400 });
    view.put(pod('later', 500, { namespace: 'b' }));
    expect(holds('3')).toEqual({ pods: 500, namespaces: 400 });
  });
});

test.each<[string, Readonly<Record<string, string>>, boolean]>([
  ['only what is charged', { pods: '1', memory: '1Gi' }, true],
  ['first what is not', { cpu: '1', pods: '1' }, false],
  ['last what is not', { pods: '1', cpu: '1' }, false],
])('a quota is counted where it limits %s', (_, hard, isCounted) => {
  listed();
  expect(counter.count(quota({ hard: amountsOf(hard) }), '1', 9) !== undefined).toBe(isCounted);
});

describe('of many namespaces', () => {
  test.each([
    [100, 0],
    [101, 1],
    [200, 1],
    [201, 2],
  ])('%s are taken up with %s pauses', (namespaces, pauses) => {
    addNamespaces(namespaces);
    listed();
    let waited = 0;
    while (counter.count(quota(), '1', 9) === undefined) waited += 1;
    expect(waited).toBe(pauses);
  });

  const largest = quota({ hard: amountsOf({ pods: '1000' }) });

  test.each([
    [100, 2],
    [101, 1],
  ])('%s are looked through anew, or not: %s pods', (namespaces, pods) => {
    addNamespaces(namespaces);
    listed(pod('x', 90));
    while (!counter.isTakenUp || counter.count(largest, '1', 9) === undefined) counter.count(largest, '1', 9);
    const podsOfA = () => counter.count(largest, '1', 9)?.byNamespace(false).get('a')?.get('pods')?.mantissa;
    expect(podsOfA()).toBe(1);
    view.put(pod('y', 101));
    expect(podsOfA()).toBe(pods);
    counter.count(largest, '2', 9);
    while (!counter.takeUp()) continue;
    expect(counter.count(largest, '2', 9)?.byNamespace(false).get('a')?.get('pods')?.mantissa).toBe(2);
  });

  test('reports the hundred with the largest share of a limit, also the last by name', () => {
    addNamespaces(102);
    const podIn = (index: number) => {
      const namespace = `n${String(index).padStart(3, '0')}`;
      return pod(`pod-${index}`, 100 + index, { namespace, amounts: amountsOf({ pods: '1' }) });
    };
    const large = { namespace: 'n101', amounts: amountsOf({ pods: '1', memory: '4Gi' }) };
    listed(...Array.from({ length: 101 }, (_, index) => podIn(index + 1)), pod('large', 300, large));
    while (!counter.isTakenUp || counter.count(quota(), '1', 9) === undefined) counter.count(quota(), '1', 9);
    const names = [...(counter.count(quota(), '1', 9)?.byNamespace(true).keys() ?? [])];
    expect([names.length, names[0], names.at(-2), names.at(-1)]).toEqual([100, 'n001', 'n099', 'n101']);
  });
});

test('a namespace that was deleted and made again is reported with its new pods', () => {
  const of = quota(OF_RED);
  const largest = () => [...(counter.count(of, '1', 9)?.byNamespace(true).keys() ?? [])];
  view.addNamespace({ name: 'b', labels: RED, revision: 6 });
  listed();
  expect(largest()).toEqual([]);
  view.put(pod('before', 101, { namespace: 'b' }));
  view.removeNamespace('b');
  view.addNamespace({ name: 'b', labels: new Map(), revision: 102 });
  listed(pod('after', 103, { namespace: 'b' }));
  view.addNamespace({ name: 'b', labels: RED, revision: 104 });
  expect(largest()).toEqual(['b']);
});

test('ten pods that cannot be read are named', () => {
  listed(...Array.from({ length: 11 }, (_, index) => pod(`odd-${index}`, 50 + index, { amounts: undefined })));
  expect(counter.count(quota(), '1', 9)?.unreadable).toHaveLength(10);
});
