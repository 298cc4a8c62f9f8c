import fc from 'fast-check';
import { expect, test } from 'vitest';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { type ZERO, quantityFromInteger, quantityNumber } from '#shared/domain/quantity/quantity.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import { PodView } from '#shared/domain/quota/view/pod-view.ts';
import { QuotaCounter } from '#shared/domain/quota/view/quota-counter.ts';
import type { SeenPod } from '#shared/domain/quota/view/seen-pod.ts';
import { selectorOf } from '#test/build/cluster.ts';
import { quota } from './view-builders.ts';

const SEEDS = [20_261_127, 2, 3, 4, 5, 6, 7, 8];
const NAMES = ['pods', 'memory', 'requests.cpu', 'unstated/memory', 'unstated/requests.cpu'] as const;
type Costs = Readonly<Record<(typeof NAMES)[number], number>>;
type Numbers = Readonly<Record<string, number>>;

/** A pod in plain numbers; without a class or a cost it cannot be read. */
interface NumberPod {
  readonly uid: string;
  readonly namespace: string;
  readonly className: string | undefined;
  readonly costs: Costs | undefined;
  readonly generation: number;
}

/** A quota for the classes `high`, with a default for memory alone. */
interface NumberQuota {
  readonly hard: Numbers;
  readonly memoryDefault: number | undefined;
  readonly team: string | undefined;
}

function quotaOf({ hard, memoryDefault, team }: NumberQuota): PriorityQuota {
  const defaultRequest = memoryDefault === undefined ? {} : { memory: memoryDefault };
  return quota({
    hard: amountsOf(hard),
    defaultRequest: amountsOf(defaultRequest),
    namespaces: prepareSelector(selectorOf(team === undefined ? {} : { team })),
  });
}

function amountsOf(numbers: Numbers) {
  return new Map(Object.entries(numbers).map(([name, value]) => [name, quantityFromInteger(value, 'DecimalSI')]));
}

function numbersOf(amounts: ReadonlyMap<string, typeof ZERO>): Numbers {
  return Object.fromEntries(Array.from(amounts, ([name, amount]) => [name, quantityNumber(amount)]));
}

/** What one pod costs the quota. */
function costOf({ className, costs }: NumberPod, { hard, memoryDefault = 0 }: NumberQuota): Numbers {
  const full = Object.fromEntries(Object.entries(hard).map(([name, limit]) => [name, name === 'pods' ? 1 : limit]));
  if (className === undefined || costs === undefined) return full;
  const charged: Numbers = { ...costs, memory: costs.memory + memoryDefault * costs['unstated/memory'] };
  return Object.fromEntries(Object.keys(hard).map((name) => [name, charged[name] ?? 0]));
}

function sumOf(pods: readonly NumberPod[], of: NumberQuota): Numbers {
  const costs = pods.map((pod) => costOf(pod, of));
  const total = (name: string): number => costs.reduce((sum, cost) => sum + (cost[name] ?? 0), 0);
  return Object.fromEntries(Object.keys(of.hard).map((name) => [name, total(name)]));
}

/** What a count must say, from all pods that there are. */
function expectedCount(counted: readonly NumberPod[], of: NumberQuota) {
  const byNamespace = Map.groupBy(counted, ({ namespace }) => namespace);
  const shares = [...byNamespace].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, pods]) => [name, sumOf(pods, of)]);
  const unreadable = counted.filter(({ className, costs }) => className === undefined || costs === undefined);
  const unstatedNames = Object.keys(of.hard).filter(
    (name) => name !== 'pods' && !(name === 'memory' && of.memoryDefault),
  );
  const unstated = unstatedNames.map((name): [string, number] => [
    name,
    counted
      .filter((pod) => !unreadable.includes(pod))
      .reduce((sum, { costs }) => sum + (costs?.[`unstated/${name}` as keyof Costs] ?? 0), 0),
  ]);
  return {
    total: sumOf(counted, of),
    byNamespace: shares.filter(([, sums]) => Object.values(sums ?? {}).some((value) => Number(value) > 0)),
    unreadable: unreadable.map(({ namespace, uid }) => `${namespace}/${uid}`).sort(),
    unstated: unstated.filter(([, count]) => count > 0),
  };
}

function actualCount(counter: QuotaCounter, of: NumberQuota, version: string) {
  const count = counter.count(quotaOf(of), version, 0);
  if (count === undefined) throw new Error('everything is listed');
  return {
    count,
    figures: {
      total: numbersOf(count.total),
      byNamespace: Array.from(count.byNamespace(true), ([name, amounts]) => [name, numbersOf(amounts)]),
      unreadable: [...count.unreadable].sort(),
      unstated: [...count.unstated],
    },
  };
}

const costs: fc.Arbitrary<Costs> = fc.record({
  pods: fc.constantFrom(0, 1),
  memory: fc.nat(9),
  'requests.cpu': fc.nat(3),
  'unstated/memory': fc.nat(2),
  'unstated/requests.cpu': fc.nat(2),
});
const names = fc.constantFrom('a', 'b', 'c');
const quotas: fc.Arbitrary<NumberQuota> = fc.record({
  hard: fc.constantFrom<Numbers>({ pods: 10, memory: 50 }, { memory: 50, 'requests.cpu': 7 }, { 'requests.cpu': 7 }),
  memoryDefault: fc.constantFrom(undefined, 4),
  team: fc.constantFrom(undefined, 'red'),
});
const actions = fc.record({
  kind: fc.constantFrom('put', 'put', 'put', 'put', 'put', 'remove', 'label', 'label', 'release', 'change'),
  number: fc.nat(7),
  namespace: names,
  className: fc.constantFrom('high', 'high', 'low', undefined),
  costs: fc.option(costs, { freq: 6, nil: undefined }),
  team: fc.constantFrom('red', 'blue'),
  next: quotas,
  isCounted: fc.boolean(),
});
type Action = typeof actions extends fc.Arbitrary<infer T> ? T : never;

/** A view that follows what happens, and the pods, namespaces and limits that there really are. */
class Cluster {
  readonly view = new PodView();
  readonly counter = new QuotaCounter(this.view);
  readonly pods = new Map<number, NumberPod>();
  readonly teams = new Map<string, string>();
  of: NumberQuota;
  version = 0;
  #revision = 0;

  constructor(of: NumberQuota) {
    this.of = of;
    this.view.begin(0, NAMES);
  }

  do(action: Action): void {
    this.#revision += 1;
    this[action.kind](action);
  }

  put({ number, namespace, className, costs: asked }: Action): void {
    const before = this.pods.get(number);
    const identity = before ?? { uid: `pod-${number}-${this.#revision}`, namespace };
    const pod = {
      uid: identity.uid,
      namespace: identity.namespace,
      className,
      costs: asked,
      generation: this.#revision,
    };
    this.pods.set(number, pod);
    this.view.put(this.#seen(pod));
  }

  remove({ number }: Action): void {
    const before = this.pods.get(number);
    if (before === undefined) return;
    this.pods.delete(number);
    this.view.remove({ uid: before.uid, namespace: before.namespace, revision: this.#revision });
  }

  label({ namespace, team }: Action): void {
    const isNew = !this.teams.has(namespace);
    this.teams.set(namespace, team);
    this.view.addNamespace({ name: namespace, labels: new Map([['team', team]]), revision: this.#revision });
    if (!isNew) return;
    const load = this.view.load();
    for (const pod of this.pods.values()) this.view.putListed(load, this.#seen(pod));
    this.view.loaded(load);
  }

  release({ namespace }: Action): void {
    this.teams.delete(namespace);
    this.view.removeNamespace(namespace);
  }

  change({ next }: Action): void {
    this.of = next;
    this.version += 1;
  }

  /** Those that the quota counts. */
  counted(): readonly NumberPod[] {
    const { team } = this.of;
    return this.enforced().filter(({ namespace, className }) => {
      return className !== 'low' && (team === undefined || this.teams.get(namespace) === team);
    });
  }

  enforced(): readonly NumberPod[] {
    return [...this.pods.values()].filter(({ namespace }) => this.teams.has(namespace));
  }

  #seen({ uid, namespace, className, costs: asked, generation }: NumberPod): SeenPod {
    const level = className === undefined ? undefined : { className, priority: 0 };
    const amounts = asked === undefined ? undefined : amountsOf(asked);
    return { uid, name: uid, namespace, level, amounts, generation, revision: this.#revision };
  }
}

test.each(SEEDS)('a count is what all pods that it concerns come to, whatever happened before (seed %s)', (seed) => {
  fc.assert(
    fc.property(quotas, fc.array(actions, { maxLength: 30, size: 'max' }), (first, all) => {
      const cluster = new Cluster(first);
      for (const action of all) {
        cluster.do(action);
        if (!action.isCounted) continue;
        const { of, view, version } = cluster;
        const counted = cluster.counted();
        const { count, figures } = actualCount(cluster.counter, of, String(version));
        expect(figures).toEqual(expectedCount(counted, of));
        const late = new QuotaCounter(view);
        expect(actualCount(late, of, 'late').figures).toEqual(figures);
        late.close();
        const pods = [...cluster.pods.values()];
        const generations = pods.map((pod) => (counted.includes(pod) ? pod.generation : undefined));
        expect(pods.map(({ uid }) => count.generationOf(uid))).toEqual(generations);
        expect(view.size).toBe(cluster.enforced().length);
      }
    }),
    { seed, numRuns: 30 },
  );
});
