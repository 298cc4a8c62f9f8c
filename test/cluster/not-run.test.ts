import { expect, test } from 'vitest';
import { groupsNotRun } from './support/control-plane/not-run.ts';

function moduleOf(...names: readonly string[]) {
  return { children: { suites: () => names.map((name) => ({ name })) } };
}

test('what is left out for a reason is listed once, whatever else there is', () => {
  const why = 'one real node (not run: a node needs root: namespaces, mounts and cgroups)';
  expect(groupsNotRun([moduleOf('a', why), moduleOf(why), moduleOf()])).toEqual([why]);
});
