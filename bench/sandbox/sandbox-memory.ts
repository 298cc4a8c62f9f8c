/** What `npm start` costs without the demo pods: memory of all its processes as the sum of PSS, and the time to its introduction. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { processTree } from '#test/build/process-tree.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TARGET_MIB = 400;
const TARGET_SECONDS = 5;
/** Long enough for start-up garbage to be collected and for every cache to be full. */
const SETTLE_MS = 10_000;

const startedAt = performance.now();
const sandbox = spawn(process.execPath, ['sandbox/main.ts', '--no-demo', '--port', '0'], {
  cwd: ROOT,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const secondsToIntroduction = await new Promise<number>((resolve, reject) => {
  sandbox.once('close', () => reject(new Error('the sandbox ended before it had introduced itself')));
  sandbox.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (text.includes('Ctrl-C')) resolve((performance.now() - startedAt) / 1000);
  });
});
await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
const processes = processTree(sandbox.pid ?? 0).map((pid) => ({ name: nameOf(pid), pssMiB: pssMiB(pid) }));
sandbox.removeAllListeners('close').kill('SIGTERM');

const pssSum = processes.reduce((sum, each) => sum + each.pssMiB, 0);
const result = {
  benchmark: 'sandbox-memory',
  unit: 'MiB',
  processes,
  pssMiB: Math.round(pssSum * 10) / 10,
  targetMiB: TARGET_MIB,
  secondsToIntroduction: Math.round(secondsToIntroduction * 100) / 100,
  targetSeconds: TARGET_SECONDS,
  isWithinTarget: pssSum <= TARGET_MIB && secondsToIntroduction <= TARGET_SECONDS,
};
console.log(JSON.stringify(result, undefined, 2));

function pssMiB(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Math.round(Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? NaN) / 102.4) / 10;
}

function nameOf(pid: number): string {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  return words.find((word) => word.endsWith('main.ts')) ?? words[0] ?? '';
}
