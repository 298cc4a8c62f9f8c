import { describe, expect, test } from 'vitest';
import { mentionedBy, reachedBy, reachedFrom, type Declaration } from '#tools/reach/reached-from.ts';
import { repositoryModules } from '#tools/reach/repository-modules.ts';
import { KINDS, type Process } from './kinds.ts';

const PROCESSES: readonly Process[] = ['webhook', 'agent', 'scheduler'];
const modules = repositoryModules();
const reached = PROCESSES.map((process) => [process, reachedFrom(`${process}/main.ts`, modules)] as const);

/** The processes whose code comes to a declaration. */
function runBy(declaration: Declaration): readonly Process[] {
  return reached.filter(([, declarations]) => declarations.has(declaration)).map(([process]) => process);
}

/** Where decisions stand: those of the product, and those of Kubernetes alone, which no process of ours takes. */
const DECISIONS = /^(shared|sandbox\/api-server\/admission|test\/conformance\/kubelet)\//;

/** Which decisions the adapter of a kind takes by name, in its own file or in a helper's. */
function takenBy(kind: string): readonly Declaration[] {
  const file = `test/conformance/kinds/${kind.replace(/^preemption-\w+$/, 'preemption')}.ts`;
  const adapter = [...reachedBy([`${file}#answer`], modules)].filter((each) => !DECISIONS.test(each));
  const taken = adapter.flatMap((each) => mentionedBy(each, modules)).filter((each) => DECISIONS.test(each));
  return [...new Set(taken)];
}

function nameOf(declaration: Declaration): string {
  return declaration.slice(declaration.indexOf('#') + 1);
}

describe.each([...KINDS])('kind %s', (kind, { decision, runBy: declared, notRun = [] }) => {
  const taken = takenBy(kind);

  test('is decided by the function that it names, in the processes that it names', () => {
    expect(taken).toContain(decision);
    expect(runBy(decision)).toEqual(declared);
  });

  test('says exactly what it takes and no process runs', () => {
    const unreached = taken.filter((each) => runBy(each).length === 0);
    expect(unreached.map(nameOf).sort()).toEqual(notRun);
  });
});

test('the programs were really read', () => {
  for (const [process, declarations] of reached) expect(declarations.size, process).toBeGreaterThan(500);
});
