/**
 * `npm run bench -- NAME`: runs one benchmark, which prints one JSON document; without a name it lists them. Each file
 * in a subfolder is a benchmark; shared code is in deeper folders.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

const USAGE_EXIT_CODE = 2;
const FOLDER = fileURLToPath(new URL('.', import.meta.url));

const files = new Map(globSync('*/*.ts', { cwd: FOLDER }).map((file) => [basename(file, '.ts'), file]));

const [name = '', ...rest] = process.argv.slice(2);
const file = files.get(name);
if (file === undefined) {
  if (name !== '') console.error(`unknown benchmark "${name}"`);
  const names = Array.from(files.keys()).sort();
  console.error(`usage: npm run --silent bench -- NAME, one of: ${names.join(', ')}`);
  process.exitCode = USAGE_EXIT_CODE;
} else {
  const { status } = spawnSync(process.execPath, ['--expose-gc', FOLDER + file, ...rest], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
