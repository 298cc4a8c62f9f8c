import { expect, test } from 'vitest';
import type { ChangeListener } from '#shared/kube/reflector/reflector.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { buildPolicy } from '#test/build/admission.ts';
import type { Caches } from '#webhook/cluster-state/caches.ts';
import { wantedPolicyConditions } from '#webhook/conditions/wanted-conditions.ts';

/** A cache of these objects that counts how often they were read. */
function cacheOf<T>(objects: readonly T[]) {
  const listeners: ChangeListener<T>[] = [];
  const cache = {
    reads: 0,
    values: () => {
      cache.reads += 1;
      return objects;
    },
    onChange: (listener: ChangeListener<T>) => {
      listeners.push(listener);
      return () => undefined;
    },
    change: (value: T) => {
      for (const listener of listeners) listener({ kind: 'modified', key: '', value });
    },
  };
  return cache;
}

test('what conditions should be is computed again only after a change of what they follow from', async () => {
  const policy = buildPolicy('p');
  const policies = cacheOf([policy]);
  const empty = cacheOf([]);
  const caches = { policies, classes: empty, namespaces: empty } as unknown as Caches;
  const wanted = wantedPolicyConditions(caches, systemClock);
  const { signal } = new AbortController();
  const first = await wanted(signal);
  expect([...first.keys()]).toEqual(['p']);
  expect(await wanted(signal)).toBe(first);
  expect(policies.reads).toBe(1);
  policies.change(policy);
  expect(await wanted(signal)).not.toBe(first);
  policies.change(policy);
  const underWay = wanted(signal);
  policies.change(policy);
  const outdated = await underWay;
  const current = await wanted(signal);
  expect(current).not.toBe(outdated);
  expect(await wanted(signal)).toBe(current);
});
