/** `npm run --silent evaluate -- KIND`: NDJSON cases on standard input, one answer per line on standard output. */
import { pipeline } from 'node:stream/promises';
import { answerLines } from './answer-lines.ts';
import { KINDS } from './kinds.ts';

const USAGE_EXIT_CODE = 2;

const [name = ''] = process.argv.slice(2);
const kind = KINDS.get(name);
if (kind === undefined) {
  console.error(`unknown kind "${name}": expected one of ${[...KINDS.keys()].join(', ')}`);
  process.exit(USAGE_EXIT_CODE);
}

// A reader that leaves early (`| head`) is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

process.stdin.setEncoding('utf8');
await pipeline(answerLines(process.stdin, kind), process.stdout);
