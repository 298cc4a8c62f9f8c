import { expect } from 'vitest';
import { at, type Harness } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';

const POLICIES = '/apis/plimsoll.dev/v1alpha1/prioritypolicies';
const RULES = '/apis/plimsoll.dev/v1alpha1/priorityrules';

/** Waits until the API server has rules of every policy there is. */
export async function untilEnforced(api: Harness): Promise<void> {
  await eventually(async () => {
    const policies = at((await api.get(POLICIES)).body, 'items') as readonly object[];
    const rules = await Promise.all(['plimsoll', 'plimsoll-warnings'].map((name) => api.get(`${RULES}/${name}`)));
    const compiled = rules.flatMap(({ body }) => (at(body, 'spec.rules') ?? []) as readonly object[]);
    const names = (all: readonly object[], path: string): readonly unknown[] =>
      all.map((each) => at(each, path)).sort();
    expect(names(compiled, 'policy')).toEqual(names(policies, 'metadata.name'));
  }, 30_000);
}
