/** A process that fills memory at a steady rate until a signal or the end of its parent process: `node hog.ts BYTES_PER_SECOND MOST_BYTES`. */
import { writeFileSync, writeSync } from 'node:fs';

const [rate = 0, most = 0] = process.argv.slice(2).map(Number);
const BLOCK = 4 * 1024 * 1024;
const TICK_MS = 5;
const held: Buffer[] = [];
const startedAt = performance.now();

function grow(): void {
  const wanted = Math.min(most, ((performance.now() - startedAt) / 1000) * rate);
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
