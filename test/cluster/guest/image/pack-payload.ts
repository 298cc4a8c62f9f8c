import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '#test/cluster/support/run-program.ts';

const REPOSITORY = fileURLToPath(new URL('../../../../', import.meta.url));
/** What a program of this repository may need in addition to its packages. */
const SOURCES = [
  'agent',
  'deploy',
  'sandbox',
  'shared',
  'test',
  'bench',
  'tools',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
];

/**
 * Writes the archive that a guest unpacks to /payload, its working folder: the present sources of this repository, files
 * of this machine below their absolute paths, and the shell script that the guest runs. Returns its path.
 */
export function packPayload(folder: string, script: string, files: readonly string[]): string {
  writeFileSync(join(folder, 'command'), script);
  const archive = join(folder, 'payload.tar');
  const others = files.flatMap((path) => ['-C', '/', path.slice(1)]);
  runProgram('tar', ['-c', '-f', archive, '-C', folder, 'command', '-C', REPOSITORY, ...SOURCES, ...others]);
  return archive;
}

/** Where one of the sources is in the guest, below /payload. */
export function inPayload(source: URL): string {
  return relative(REPOSITORY, fileURLToPath(source));
}

/** A word of a shell script that means itself. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
