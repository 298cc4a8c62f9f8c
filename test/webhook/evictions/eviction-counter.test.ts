import { describe, expect, test } from 'vitest';
import type { Account } from '#shared/domain/disruption/account.ts';
import type { WantedEviction } from '#shared/domain/eviction/count-eviction.ts';
import { counted, evictedPod } from '#test/shared/domain/eviction/counted-evictions.ts';
import {
  createEvictionCounter,
  type EvictionCounter,
  type EvictionCounterOptions,
} from '#webhook/evictions/eviction-counter.ts';

type Wanted = Omit<WantedEviction, 'at'>;
type EvictionStore = EvictionCounterOptions['store'];

const LIMITS = { concurrent: 1, perMinute: 2, perTenMinutes: 4, perNamespacePerTenMinutes: 4 };
const BOUNDS = { limits: LIMITS, inClusterPerMinute: 10 };
const NOBODY = () => Promise.resolve(new Set<string>());

/** A store that replicas share: a write must still find what was read. */
function sharedStore(before: Account = []): EvictionStore & { readonly account: () => Account } {
  let account = before;
  let version = 0;
  const raw = () => ({ metadata: { name: 'plimsoll-evictions', resourceVersion: String(version) } });
  return {
    account: () => account,
    read: () => Promise.resolve({ value: account, raw: raw() }),
    write: (next) => {
      if (next.raw?.metadata.resourceVersion !== String(version)) return Promise.resolve(false);
      version += 1;
      account = next.value;
      return Promise.resolve(true);
    },
  };
}

function counterOn(store: EvictionStore, more: Partial<Parameters<typeof createEvictionCounter>[0]> = {}) {
  const clock = { now: () => 1_000_000, monotonic: () => 0 };
  return createEvictionCounter({ store, findSurvivors: NOBODY, clock, ...more });
}

function pod(index: number, node = 'a'): Wanted {
  return { ...evictedPod(index), node };
}

async function kinds(counter: EvictionCounter, pods: readonly Wanted[]): Promise<readonly string[]> {
  return (await Promise.all(pods.map((each) => counter.count(each, BOUNDS, 1_000)))).map(({ kind }) => kind);
}

describe('an eviction counter', () => {
  test('lets through what the limits allow when many ask at once', async () => {
    const counter = counterOn(sharedStore());
    const answers = await kinds(
      counter,
      [1, 2, 3, 4, 5].map((index) => pod(index)),
    );
    expect(answers.filter((kind) => kind === 'counted')).toHaveLength(2);
  });

  test('counts across all replicas, and retries after a conflict', async () => {
    const store = sharedStore();
    const replicas = [counterOn(store), counterOn(store), counterOn(store)];
    const answers = await Promise.all(
      replicas.flatMap((replica, index) => [kinds(replica, [pod(index)]), kinds(replica, [pod(index + 10)])]),
    );
    expect(answers.flat().filter((kind) => kind === 'counted')).toHaveLength(2);
    expect(store.account()).toHaveLength(2);
  });

  test('outlives the replica that counted', async () => {
    const store = sharedStore();
    await kinds(counterOn(store), [pod(1), pod(2)]);
    expect(await kinds(counterOn(store), [pod(3), pod(4, 'b')])).toEqual(['exceeded', 'counted']);
  });

  describe('where the limit seems reached', () => {
    const store = () => sharedStore([counted({ ...pod(1), at: 990_000 }), counted({ ...pod(2), at: 999_000 })]);

    test('leaves out evictions that were not executed, once that is certain', async () => {
      const asked: string[] = [];
      const findSurvivors = (evicted: readonly Pick<Wanted, 'uid' | 'namespace' | 'pod'>[]) => {
        asked.push(...evicted.map(({ namespace, pod: name }) => `${namespace}/${name}`));
        return Promise.resolve(new Set(evicted.map(({ uid }) => uid)));
      };
      const shared = store();
      expect(await kinds(counterOn(shared, { findSurvivors }), [pod(3)])).toEqual(['counted']);
      expect(asked).toEqual(['team/p1']);
      expect(shared.account().map(({ uid }) => uid)).toEqual(['uid-p2', 'uid-p3']);
    });

    test('refuses when the pods are gone', async () => {
      const [answer] = await Promise.all([counterOn(store()).count(pod(3), BOUNDS, 1_000)]);
      expect(answer).toMatchObject({
        kind: 'exceeded',
        because: { text: 'the limit of 2 evictions a minute on node `a` is reached' },
        retryAfterMs: 50_000,
      });
    });
  });

  test.each<[what: string, store: Partial<EvictionStore>, message: string]>([
    [
      'the store cannot be read',
      { read: () => Promise.reject(new Error('cannot read: no route')) },
      'cannot read: no route',
    ],
    ['the store cannot be written', { write: () => Promise.reject(new Error('cannot write: forbidden')) }, 'forbidden'],
    ['another replica is always faster', { write: () => Promise.resolve(false) }, 'not settled in time'],
  ])('gives no answer that lets through when %s', async (_, broken, message) => {
    let now = 0;
    const clock = { now: () => 0, monotonic: () => (now += 100) };
    const counter = counterOn({ ...sharedStore(), ...broken }, { clock });
    expect(await counter.count(pod(1), BOUNDS, 1_000)).toEqual({
      kind: 'unclear',
      message: expect.stringContaining(message) as string,
    });
  });

  test('goes on counting after a failure', async () => {
    const shared = sharedStore();
    let isBroken = true;
    const store = { ...shared, read: () => (isBroken ? Promise.reject(new Error('down')) : shared.read(1)) };
    const counter = counterOn(store);
    const first = await kinds(counter, [pod(1)]);
    isBroken = false;
    expect([first, await kinds(counter, [pod(1)])]).toEqual([['unclear'], ['counted']]);
  });

  test('keeps no endless queue', async () => {
    const never = new Promise<never>(() => undefined);
    const counter = counterOn({ ...sharedStore(), read: () => never });
    const asked = Array.from({ length: 65 }, (_, index) => counter.count(pod(index), BOUNDS, 1_000));
    await expect(asked[64]).resolves.toMatchObject({ kind: 'unclear' });
  });
});
