/**
 * What runs inside every demo container: holds memory, grows, burns CPU, ends. Plain JavaScript, because stripping
 * types would add 12 MiB to each pod. Argument: JSON of `ContainerParameters` (container-plan.ts).
 */
import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { setInterval, setTimeout } from 'node:timers';

const MEBIBYTE = 1024 * 1024;
const TICK_MS = 100;
const parameters = JSON.parse(process.argv[2] ?? '{}');
const held = [];
let heldBytes = 0;

function say(text) {
  process.stdout.write(`${text}\n`);
}

/** Filled with ones: untouched pages would cost nothing. */
function hold(bytes) {
  held.push(Buffer.alloc(bytes, 1));
  heldBytes += bytes;
}

function growTo(bytes) {
  while (heldBytes < bytes) hold(Math.min(4 * MEBIBYTE, bytes - heldBytes));
}

function grow() {
  const before = Math.floor(heldBytes / (64 * MEBIBYTE));
  growTo(Math.min(parameters.mostBytes, heldBytes + (parameters.growBytesPerSecond * TICK_MS) / 1000));
  if (Math.floor(heldBytes / (64 * MEBIBYTE)) > before) say(`Holding ${Math.round(heldBytes / MEBIBYTE)} MiB`);
}

/** Short slices keep the event loop free for signals. */
function burn() {
  const end = performance.now() + (TICK_MS * Math.min(parameters.milliCpu, 1000)) / 1000;
  while (performance.now() < end);
}

process.on('SIGTERM', () => {
  say(parameters.ignoresTerm ? 'Ignoring SIGTERM' : 'Ending on SIGTERM');
  if (!parameters.ignoresTerm) process.exit(0);
});
// The other end of standard input is the sandbox: when it ends for any reason, this process ends too.
process.stdin.on('close', () => process.exit(0));
process.stdin.resume();

say(`Started ${parameters.image}`);
growTo(parameters.memoryBytes);
if (parameters.growBytesPerSecond > 0) setInterval(grow, TICK_MS);
if (parameters.milliCpu > 0) setInterval(burn, TICK_MS);
if (parameters.seconds !== undefined) {
  setTimeout(() => {
    say(`Done with exit code ${parameters.exitCode}`);
    process.exit(parameters.exitCode);
  }, parameters.seconds * 1000);
}
