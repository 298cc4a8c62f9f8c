import { beforeEach, describe, expect, test } from 'vitest';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { PodView } from '#shared/domain/quota/view/pod-view.ts';
import { QuotaCounter } from '#shared/domain/quota/view/quota-counter.ts';
import type { SeenPod } from '#shared/domain/quota/view/seen-pod.ts';
import { amountsOf, selectorOf } from '#test/build/cluster.ts';
import { begin, list, NAMES, pod, quota } from './view-builders.ts';

describe('a view of pods', () => {
  let view: PodView;
  let counter: QuotaCounter;

  beforeEach(() => {
    view = new PodView();
    counter = new QuotaCounter(view);
    begin(view);
  });

  function listed(...pods: readonly SeenPod[]): void {
    list(view, pods);
    Array.from(view.sweep());
  }

  function counted(of = quota(), version = '1') {
    const count = counter.count(of, version, 9);
    if (count === undefined) return undefined;
    const { total, reached, holds, unreadable } = count;
    const amounts = Object.fromEntries([...total].map(([name, amount]) => [name, formatQuantity(amount)]));
    return { ...amounts, reached: reached.pods, holds: holds.pods, unreadable };
  }

  test('knows nothing of a namespace that has not been listed', () => {
    view.put(pod('x', 101));
    expect(counted()).toBeUndefined();
    expect(counted(quota({ namespaces: prepareSelector(selectorOf({ team: 'b' })) }), '2')).toBeDefined();
  });

  test('counts what lists and watch have shown, each pod in its latest state', () => {
    view.put(pod('watched', 103));
    listed(pod('x', 90), pod('watched', 95, { amounts: amountsOf({ pods: '1', memory: '7Gi' }) }));
    expect(counted()).toEqual({ pods: '2', memory: '2Gi', reached: 100, holds: 103, unreadable: [] });
    view.put(pod('x', 104, { amounts: amountsOf({ pods: '1', memory: '3Gi' }) }));
    view.reach(104);
    expect(counted()).toMatchObject({ pods: '2', memory: '4Gi', reached: 104, holds: 104 });
    view.remove({ uid: 'x', namespace: 'a', revision: 105 });
    expect(counted()).toMatchObject({ pods: '1', memory: '1Gi', holds: 105 });
  });

  test('a pod that was deleted while a list was under way does not come back with it', () => {
    view.remove({ uid: 'x', namespace: 'a', revision: 103 });
    listed(pod('x', 90));
    expect(counted()).toMatchObject({ pods: '0' });
    expect([view.isGone('x'), view.isGone('y')]).toEqual([true, false]);
  });

  test('counts pods of its classes or priorities, in its namespaces alone', () => {
    view.addNamespace({ name: 'b', labels: new Map([['team', 'b']]), revision: 6 });
    listed(
      pod('x', 90),
      pod('low', 91, { level: { className: 'low', priority: 1 } }),
      pod('b', 92, { namespace: 'b' }),
      pod('elsewhere', 93, { namespace: 'c' }),
    );
    expect(view.size).toBe(3);
    expect(counted()).toMatchObject({ pods: '2' });
    expect(counted(quota({ scope: { kind: 'range', min: 0, max: 9 } }), '2')).toMatchObject({ pods: '1' });
    const onlyB = quota({ namespaces: prepareSelector(selectorOf({ team: 'b' })) });
    expect(counted(onlyB, '3')).toMatchObject({ pods: '1', holds: 92 });
    view.addNamespace({ name: 'b', labels: new Map(), revision: 7 });
    expect(counted(onlyB, '3')).toMatchObject({ pods: '0' });
    expect(counter.count(quota(), '4', 9)?.holds).toEqual({ pods: 92, namespaces: 7 });
  });

  test('reports the generation of counted pods, and the largest namespaces', () => {
    listed(pod('x', 90, { generation: 4 }), pod('low', 91, { level: { className: 'low', priority: 1 } }));
    const count = counter.count(quota(), '1', 9);
    expect([count?.generationOf('x'), count?.generationOf('low'), count?.generationOf('none')]).toEqual([
      4,
      undefined,
      undefined,
    ]);
    expect([...(count?.byNamespace(true).keys() ?? [])]).toEqual(['a']);
  });

  test('looks anew for those that hold most of many namespaces only where that is asked for', () => {
    for (let index = 0; index < 120; index += 1) {
      view.addNamespace({ name: `n${index}`, labels: new Map(), revision: 6 });
      view.put(pod(`pod-${index}`, 91 + index, { namespace: `n${index}` }));
    }
    listed();
    const many = quota({ hard: amountsOf({ pods: '1000' }) });
    expect(counter.count(many, '1', 9)).toBeUndefined();
    expect(counter.takeUp()).toBe(true);
    const largest = (isExact: boolean) => counter.count(many, '1', 9)?.byNamespace(isExact).get('n7')?.get('pods');
    expect(largest(false)?.mantissa).toBe(1);
    view.put(pod('more', 300, { namespace: 'n7' }));
    expect([largest(false)?.mantissa, largest(true)?.mantissa, largest(false)?.mantissa]).toEqual([1, 2, 2]);
  });

  describe('over many namespaces', () => {
    const held = (of: QuotaCounter) => {
      const count = of.count(quota(), '1', 9);
      const largest = [...(count?.byNamespace(true).keys() ?? [])];
      return { pods: count?.total.get('pods')?.mantissa, holds: count?.holds, largest };
    };

    beforeEach(() => {
      const pods = Array.from({ length: 350 }, (_, index) => {
        view.addNamespace({ name: `n${index}`, labels: new Map(), revision: 6 });
        return pod(`pod-${index}`, 100 + index, { namespace: `n${index}` });
      });
      listed(...pods);
    });

    test('is counted in pieces, and not before the last of them', () => {
      for (let piece = 0; piece < 3; piece += 1) {
        expect(counter.count(quota(), '1', 9)).toBeUndefined();
        expect(counter.isTakenUp).toBe(false);
      }
      expect(held(counter)).toMatchObject({ pods: 350, holds: { pods: 449, namespaces: 6 } });
    });

    test('counts what happens between two pieces once, wherever it happens', () => {
      expect(counter.count(quota(), '1', 9)).toBeUndefined();
      for (const [index, namespace] of ['n3', 'n300', 'n301'].entries()) {
        view.put(pod(`new-${index}`, 500 + index, { namespace }));
        view.remove({ uid: `pod-${namespace.slice(1)}`, namespace, revision: 600 + index });
      }
      for (const namespace of ['n4', 'n302']) view.removeNamespace(namespace);
      view.addNamespace({ name: 'n302', labels: new Map(), revision: 7 });
      listed(pod('again', 700, { namespace: 'n302' }));
      while (!counter.takeUp()) continue;
      const late = new QuotaCounter(view);
      while (held(late).pods === undefined) continue;
      expect(held(counter)).toEqual(held(late));
      expect(held(counter)).toMatchObject({ pods: 349, holds: { pods: 700, namespaces: 7 } });
    });
  });

  test('finds deleted pods in steps, and drops the remaining steps in the next epoch', () => {
    const many = Array.from({ length: 15_000 }, (_, index) => pod(`pod-${index}`, 101 + index));
    listed(...many);
    view.begin(20_000, NAMES);
    const load = view.load();
    view.loaded(load);
    const rest = view.sweep();
    expect(rest.next().done).toBe(false);
    expect(view.size).toBe(5_000);
    view.begin(30_000, NAMES);
    expect(rest.next().done).toBe(true);
    expect(view.size).toBe(5_000);
    listed(many[14_999] ?? pod('none', 1));
    expect(view.size).toBe(1);
  });

  test('finds deleted pods also when the last unlisted namespace is released', () => {
    view.addNamespace({ name: 'b', labels: new Map(), revision: 6 });
    listed(pod('went', 90), pod('b', 91, { namespace: 'b' }));
    view.begin(200, NAMES);
    const [a] = view.unlisted;
    view.loaded(view.load(a && [a]));
    Array.from(view.sweep());
    expect(view.size).toBe(2);
    view.removeNamespace('b');
    expect(view.size).toBe(0);
  });

  test('counts the same whether it followed from the beginning or adds up what it finds', () => {
    const late = () => new QuotaCounter(view).count(quota(), '1', 9);
    const print = (count: ReturnType<typeof late>) =>
      count && {
        total: [...count.total].map(([, each]) => quantityNumber(each)),
        unreadable: count.unreadable,
        holds: count.holds,
      };
    view.addNamespace({ name: 'b', labels: new Map(), revision: 6 });
    listed(pod('x', 90), pod('odd', 91, { amounts: undefined }), pod('b', 92, { namespace: 'b' }));
    expect(print(late())).toEqual(print(counter.count(quota(), '1', 9)));
    view.put(pod('x', 93, { amounts: amountsOf({ pods: '1', memory: '3Gi' }) }));
    view.put(pod('x', 94, { amounts: amountsOf({ pods: '1', memory: '3Gi' }), generation: 2 }));
    view.put(pod('odd', 95, { amounts: undefined, level: { className: 'low', priority: 1 } }));
    view.remove({ uid: 'b', namespace: 'b', revision: 96 });
    view.put(pod('b2', 97, { namespace: 'b', level: undefined }));
    expect(print(late())).toEqual(print(counter.count(quota(), '1', 9)));
    view.removeNamespace('b');
    expect(print(late())).toMatchObject({ total: [1, 3 * 2 ** 30], unreadable: [] });
    const { total } = counter.count(quota(), '1', 9) ?? {};
    expect([...(total ?? [])].map(([, each]) => quantityNumber(each))).toEqual([1, 3 * 2 ** 30]);
  });

  test('a counter that is closed follows no more', () => {
    listed(pod('x', 90));
    expect(counted()).toMatchObject({ pods: '1' });
    counter.close();
    view.put(pod('y', 91));
    expect(counted()).toMatchObject({ pods: '1' });
  });

  test('reports the usage of limited resources by namespace', () => {
    view.addNamespace({ name: 'b', labels: new Map(), revision: 6 });
    view.addNamespace({ name: 'empty', labels: new Map(), revision: 6 });
    listed(
      pod('x', 90, { amounts: amountsOf({ pods: '1', memory: '1Gi', cpu: '1' }) }),
      pod('y', 91, { amounts: amountsOf({ pods: '1', memory: '512Mi' }) }),
      pod('b', 92, { namespace: 'b', amounts: amountsOf({ pods: '1' }) }),
      pod('ended', 93, { amounts: amountsOf({}) }),
    );
    const byNamespace = [...(counter.count(quota(), '1', 9)?.byNamespace(true) ?? [])];
    const print = (amounts: (typeof byNamespace)[number][1]) =>
      Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]));
    expect(byNamespace.map(([namespace, amounts]) => [namespace, print(amounts)])).toEqual([
      ['a', { pods: '2', memory: '1536Mi' }],
      ['b', { pods: '1', memory: '0' }],
    ]);
  });

  test('a pod that cannot be read counts in every quota with its full limit', () => {
    listed(pod('x', 90), pod('odd', 91, { amounts: undefined }), pod('odder', 92, { level: undefined }));
    expect(counted()).toEqual({
      pods: '3',
      memory: '17Gi',
      reached: 100,
      holds: 92,
      unreadable: ['a/odd', 'a/odder'],
    });
    expect(counted(quota({ scope: { kind: 'range', min: 0, max: 9 } }), '2')).toMatchObject({ pods: '1' });
    view.put(pod('odd', 93));
    view.remove({ uid: 'odder', namespace: 'a', revision: 94 });
    expect(counted()).toMatchObject({ pods: '2', memory: '2Gi', unreadable: [] });
  });

  test('a namespace that is released takes its pods with it, and is listed anew when it comes back', () => {
    listed(pod('x', 90));
    view.removeNamespace('a');
    expect([counted(), view.size]).toMatchObject([{ pods: '0' }, 0]);
    view.addNamespace({ name: 'a', labels: new Map(), revision: 8 });
    expect(counted()).toBeUndefined();
    listed(pod('x', 90));
    expect(counted()).toMatchObject({ pods: '1' });
  });

  test('a list that began before a namespace came back does not count for it', () => {
    const load = view.load();
    view.removeNamespace('a');
    view.addNamespace({ name: 'a', labels: new Map(), revision: 8 });
    view.putListed(load, pod('x', 90));
    view.loaded(load);
    Array.from(view.sweep());
    expect([counted(), view.size]).toEqual([undefined, 0]);
  });

  describe('in a new epoch', () => {
    beforeEach(() => {
      listed(pod('stays', 90), pod('went', 91));
      view.reach(110);
      view.begin(200, NAMES);
    });

    test('keeps its old revision until everything is listed again', () => {
      view.put(pod('new', 201));
      view.reach(201);
      expect(counted()).toMatchObject({ pods: '3', reached: 110, holds: 201 });
      listed(pod('stays', 90), pod('new', 201));
      expect(counted()).toMatchObject({ pods: '2', reached: 201 });
    });

    test('ignores a list of the previous epoch', () => {
      const load = view.load();
      view.begin(300, NAMES);
      view.loaded(load);
      Array.from(view.sweep());
      expect(counted()).toMatchObject({ reached: 110 });
    });

    test('forgets everything when revisions went back or other entries are charged', () => {
      view.begin(150, NAMES);
      expect([counted(), view.size]).toEqual([undefined, 0]);
      listed(pod('stays', 90));
      view.begin(250, ['pods', 'cpu']);
      expect([counter.count(quota(), '1', 9), view.size]).toEqual([undefined, 0]);
    });
  });
});
