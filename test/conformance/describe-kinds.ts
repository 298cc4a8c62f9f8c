import type { Kind } from './kinds.ts';

/** What `evaluate --help` prints: the kinds, and which processes run the function that decides each. */
export function helpText(kinds: ReadonlyMap<string, Kind>): string {
  const lines = Array.from(kinds, ([name, { runBy }]) => `  ${name.padEnd(20)}${runBy.join(', ') || 'no process'}`);
  return [
    'usage: npm run --silent evaluate -- KIND <cases.ndjson >answers.ndjson',
    '',
    'kinds, and the processes that run the function which decides them:',
    ...lines,
  ].join('\n');
}

/** What the reader of a kind's answers should know of the product; `undefined` where it runs all that they take. */
export function noteOn(name: string, { runBy, notRun = [] }: Kind): string | undefined {
  if (notRun.length === 0) return undefined;
  const use =
    runBy.length === 0
      ? 'this kind only compares with Kubernetes'
      : `the ${runBy.join(' and the ')} ${runBy.length === 1 ? 'runs' : 'run'} the rest`;
  return `note: ${name}: no Plimsoll process runs ${notRun.join(', ')}; ${use}`;
}
