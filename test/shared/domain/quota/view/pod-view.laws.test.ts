import { expect, test } from 'vitest';
import { quantityFromInteger, quantityNumber, ZERO } from '#shared/domain/quantity/quantity.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import { PodView, type PodLoad } from '#shared/domain/quota/view/pod-view.ts';
import { QuotaCounter } from '#shared/domain/quota/view/quota-counter.ts';
import type { SeenPod } from '#shared/domain/quota/view/seen-pod.ts';
import { selectorOf, PLAIN_QUOTA } from '#test/build/cluster.ts';
import { randomSource } from '#test/fakes/random-source.ts';

/** A state of a pod, or its deletion, as the API server stored it. */
interface Change extends SeenPod {
  readonly isDeletion: boolean;
}

const NAMES = ['units'];
const NAMESPACES = ['a', 'b', 'c'];
const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1);
const STEPS = 3_000;
const QUOTA: PriorityQuota = {
  name: 'q',
  namespaces: prepareSelector(selectorOf({})),
  scope: { kind: 'range', min: 0, max: 9 },
  hard: new Map([['units', quantityFromInteger(1, 'DecimalSI')]]),
  ...PLAIN_QUOTA,
};

function unitsOf({ amounts }: SeenPod): number {
  return quantityNumber(amounts?.get('units') ?? ZERO);
}

/** A server with a history, and a view that reads it in pieces: lists page by page, a watch that lags and breaks. */
function createRun(seed: number) {
  const random = randomSource(seed);
  const view = new PodView();
  const counter = new QuotaCounter(view);
  const history: Change[] = [];
  const living = new Map<string, Change>();
  const enforced = new Set<string>();
  let revision = 10;
  let delivered = 0;
  let load: { readonly token: PodLoad; readonly items: Change[] } | undefined;

  function change(): void {
    revision += 1 + random.below(3);
    const known = [...living.values()];
    const before = known[random.below(known.length)];
    const isNew = before === undefined || random.chance(0.4);
    const identity = isNew ? { uid: `pod-${revision}`, namespace: random.pick(NAMESPACES) } : before;
    const next: Change = {
      uid: identity.uid,
      namespace: identity.namespace,
      name: identity.uid,
      revision,
      generation: revision,
      level: { className: '', priority: isNew ? random.below(12) : (before.level?.priority ?? 0) },
      amounts: new Map([['units', quantityFromInteger(random.below(5), 'DecimalSI')]]),
      isDeletion: !isNew && random.chance(0.4),
    };
    history.push(next);
    if (next.isDeletion) living.delete(next.uid);
    else living.set(next.uid, next);
  }

  /** One event of the watch, or a bookmark where there is none. */
  function deliver(): void {
    const next = history[delivered];
    if (next === undefined) {
      if (delivered > 0 || history.length === 0) view.reach(revision);
      return;
    }
    delivered += 1;
    if (next.isDeletion) view.remove(next);
    else view.put(next);
    view.reach(next.revision);
  }

  function begin(): void {
    load = undefined;
    delivered = history.length;
    view.begin(revision, NAMES);
  }

  function list(): void {
    if (load === undefined) {
      const namespaces = view.unlisted;
      if (namespaces.length === 0) return;
      const some = random.chance(0.5) ? namespaces : namespaces.slice(0, 1);
      const names = new Set(some.map(({ name }) => name));
      const items = [...living.values()].filter(({ namespace }) => names.has(namespace));
      load = { token: view.load(some), items };
      return;
    }
    for (const item of load.items.splice(0, 1 + random.below(10))) view.putListed(load.token, item);
    if (load.items.length > 0) return;
    view.loaded(load.token);
    Array.from(view.sweep());
    load = undefined;
  }

  function toggleNamespace(): void {
    const name = random.pick(NAMESPACES);
    if (enforced.delete(name)) view.removeNamespace(name);
    else {
      enforced.add(name);
      view.addNamespace({ name, labels: new Map(), revision });
    }
  }

  function truth(at: number): Map<string, Change> {
    const pods = new Map<string, Change>();
    for (const each of history) {
      if (each.revision > at || !enforced.has(each.namespace)) continue;
      if (each.isDeletion) pods.delete(each.uid);
      else pods.set(each.uid, each);
    }
    return pods;
  }

  const actions: readonly (readonly [number, () => void])[] = [
    [0.4, change],
    [0.35, deliver],
    [0.2, list],
    [0.03, toggleNamespace],
    [0.02, begin],
  ];

  function act(): void {
    let drawn = random.next();
    for (const [share, action] of actions) {
      drawn -= share;
      if (drawn < 0) {
        action();
        return;
      }
    }
  }

  function comeToRest(): void {
    while (view.unlisted.length > 0 || load !== undefined) list();
    while (delivered < history.length) deliver();
    deliver();
  }
  return {
    act,
    begin,
    comeToRest,
    truth,
    view,
    counter,
    now: () => revision,
    isLiving: (uid: string) => living.has(uid),
  };
}

function isCounted({ level }: Change): boolean {
  return (level?.priority ?? 0) <= 9;
}

test.each(SEEDS)('shows all that happened up to the revision that it has reached (seed %i)', (seed) => {
  const run = createRun(seed);
  run.begin();
  let counts = 0;
  for (let step = 0; step < STEPS; step += 1) {
    run.act();
    const count = run.counter.count(QUOTA, '1', 0);
    if (count === undefined) continue;
    counts += 1;
    const older = [...run.truth(count.reached.pods).values()].filter(
      (pod) => isCounted(pod) && run.isLiving(pod.uid) && (count.generationOf(pod.uid) ?? 0) < pod.generation,
    );
    expect(older).toEqual([]);
  }
  run.comeToRest();
  const pods = [...run.truth(run.now()).values()];
  const units = pods.filter(isCounted).reduce((sum, pod) => sum + unitsOf(pod), 0);
  const total = run.counter.count(QUOTA, '1', 0)?.total.get('units') ?? ZERO;
  expect([quantityNumber(total), run.view.size]).toEqual([units, pods.length]);
  expect(counts).toBeGreaterThan(STEPS / 10);
});
