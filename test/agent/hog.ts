/**
 * A process that fills memory at a steady rate until a signal or the end of its parent process; it hardly catches up
 * on time in which it did not run: `node hog.ts BYTES_PER_SECOND MAX_BYTES`.
 */
import { writeFileSync, writeSync } from 'node:fs';

const [rate = 0, most = 0] = process.argv.slice(2).map(Number);
const BLOCK = 4 * 1024 * 1024;
const TICK_MS = 5;
/** Where the machine is busy, the agent stands still as well; a large jump afterwards would outrun any agent. */
const MAX_TICK_MS = 250;
const held: Buffer[] = [];
let wanted = 0;
let grownAt = performance.now();

function grow(): void {
  const now = performance.now();
  wanted = Math.min(most, wanted + (Math.min(now - grownAt, MAX_TICK_MS) / 1000) * rate);
  grownAt = now;
  while (held.length * BLOCK < wanted) held.push(Buffer.alloc(BLOCK, 1));
  if (held.length * BLOCK >= most) clearInterval(growing);
}

// The kubelet's value for BestEffort pods: an OOM killer selects it first.
writeFileSync('/proc/self/oom_score_adj', '1000');
writeSync(1, 'growing\n');
const growing = setInterval(grow, TICK_MS);
grow();
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit();
}, 1000);
