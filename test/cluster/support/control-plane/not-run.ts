import type { TestModule, TestSuite } from 'vitest/node';

/** A group that is left out says why at the end of its name (`whyNoNode`, `whyNoOwnCluster`). */
const REASON = / \(not run: .*\)$/;

type Group = Pick<TestSuite, 'name'>;
type Module = { readonly children: { suites(): Iterable<Group> } };

/** The names of the groups that were left out for a reason, each once; reporters print those of tests that ran only. */
export function groupsNotRun(modules: Iterable<Module | TestModule>): readonly string[] {
  const names = [...modules].flatMap(({ children }) => [...children.suites()].map(({ name }) => name));
  return [...new Set(names.filter((name) => REASON.test(name)))];
}
