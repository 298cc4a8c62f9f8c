import { execFileSync } from 'node:child_process';
import { relative } from 'node:path';

/** Titles by file as they are written, with the placeholders of tables (`%s`, `$name`) and of template literals. */
export type WrittenTitles = ReadonlyMap<string, readonly string[]>;

/**
 * The titles in these files of `npm test`, which the runner reads without running them: a renamed test must not wait
 * for the next run to be missed. A file whose tests are created by a function of another file has none.
 */
export function readWrittenTitles(files: readonly string[]): WrittenTitles {
  if (files.length === 0) return new Map();
  const command = [
    'node_modules/vitest/vitest.mjs',
    'list',
    ...files,
    '--project',
    '!long',
    '--static-parse',
    '--json',
  ];
  const tests = JSON.parse(execFileSync(process.execPath, command, { encoding: 'utf8' })) as readonly ListedTest[];
  const byFile = new Map<string, string[]>();
  for (const { name, file } of tests) {
    const path = relative('.', file);
    byFile.set(path, [...(byFile.get(path) ?? []), name]);
  }
  return byFile;
}

interface ListedTest {
  readonly name: string;
  readonly file: string;
}
