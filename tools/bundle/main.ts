/**
 * `npm run bundle`: the command line as one file, `dist/plimsoll.cjs`, which needs Node.js 20 or newer and nothing else.
 * `npm run bundle -- --executable` also makes `dist/plimsoll`, which needs nothing at all, and
 * `npm run bundle -- --krew URL` the plugin for krew with its manifest, whose archive will be published below URL.
 */
import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleCli, makeExecutable } from './bundle-cli.ts';
import { packForKrew } from './krew.ts';

const options = { executable: { type: 'boolean', default: false }, krew: { type: 'string' } } as const;
const { values } = parseArgs({ options });
const bundle = 'dist/plimsoll.cjs';
tell(await bundleCli(bundle), bundle);
if (values.executable) tell(makeExecutable(bundle, 'dist/plimsoll'), 'dist/plimsoll');
if (values.krew !== undefined) {
  const { archive, manifest } = packForKrew(bundle, 'dist', values.krew);
  for (const file of [archive, manifest]) tell(statSync(file).size, relative('', file));
}

function tell(bytes: number, file: string): void {
  console.error(`${file}: ${(bytes / 1e6).toFixed(1)} MB`);
}
