/** `npm run bench -- NAME`: runs one benchmark, which prints one JSON document; without a name it lists them. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const USAGE_EXIT_CODE = 2;
const FOLDER = fileURLToPath(new URL('.', import.meta.url));

const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => file.slice(0, -'.ts'.length))
  .sort();

const [name, ...rest] = process.argv.slice(2);
if (name !== undefined && names.includes(name)) {
  const { status } = spawnSync(process.execPath, ['--expose-gc', `${FOLDER}${name}.ts`, ...rest], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
} else {
  if (name !== undefined) console.error(`unknown benchmark "${name}"`);
  console.error(`usage: npm run --silent bench -- NAME, one of: ${names.join(', ')}`);
  process.exitCode = USAGE_EXIT_CODE;
}
