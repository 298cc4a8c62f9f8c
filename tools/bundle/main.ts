/**
 * `npm run bundle`: the command line as one file, `dist/plimsoll.cjs`, which needs Node.js 20 or newer and nothing else.
 * `npm run bundle -- --executable` also makes `dist/plimsoll`, which needs nothing at all.
 */
import { parseArgs } from 'node:util';
import { bundleCli, makeExecutable } from './bundle-cli.ts';

const { values } = parseArgs({ options: { executable: { type: 'boolean', default: false } } });
const bundle = 'dist/plimsoll.cjs';
tell(await bundleCli(bundle), bundle);
if (values.executable) tell(makeExecutable(bundle, 'dist/plimsoll'), 'dist/plimsoll');

function tell(bytes: number, file: string): void {
  console.error(`${file}: ${(bytes / 1e6).toFixed(1)} MB`);
}
