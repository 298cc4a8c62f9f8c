/**
 * `npm run --silent evaluate -- KIND`: NDJSON cases on standard input, one answer per line on standard output. With
 * `PLIMSOLL_KUBERNETES=1.37` as that version answers.
 */
import { pipeline } from 'node:stream/promises';
import { computePodsAs } from '#shared/kube/decode/pod-arithmetic.ts';
import { answerLines } from './answer-lines.ts';
import { helpText, noteOn } from './describe-kinds.ts';
import { KINDS } from './kinds.ts';

const USAGE_EXIT_CODE = 2;
computePodsAs(process.env['PLIMSOLL_KUBERNETES'] ?? '');

const [name = ''] = process.argv.slice(2);
if (name === '--help') {
  console.log(helpText(KINDS));
  process.exit();
}
const kind = KINDS.get(name);
if (kind === undefined) {
  console.error(`unknown kind "${name}": expected one of ${[...KINDS.keys()].join(', ')}`);
  process.exit(USAGE_EXIT_CODE);
}
const note = noteOn(name, kind);
if (note !== undefined) console.error(note);

// A reader that leaves early (`| head`) is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

process.stdin.setEncoding('utf8');
await pipeline(answerLines(process.stdin, kind), process.stdout);
