/**
 * The agent and earlyoom (Debian) in an emulated guest with cgroup v2 and PSI: a real process in a pod's group fills
 * the node's memory at the same ramp, in turn for each of the two. Measured: threshold crossed → eviction request or
 * SIGTERM, how far memory went below the threshold, and whether the kernel killed. The emulated processor is some ten
 * times slower than a real one and cannot fill 1 GB/s: `mebibytesPerSecond` is what it did, and delays compare the two
 * with one another, not with other machines. JSON on stdout; RUNS, RATES and THRESHOLDS as for agent-race.
 */
import { HOUR_MS } from '#shared/domain/base/durations.ts';
import { findGuestTools, neededTools, pathOf } from '#test/cluster/guest/image/find-guest-tools.ts';
import { runInGuest } from '#test/cluster/guest/run/run-in-guest.ts';
import { environment } from './support/environment.ts';

/** Slightly above the thresholds, because the guest is slow to fill it. */
const MEMORY_MIB = 1536;

const earlyoom = pathOf('earlyoom');
if (earlyoom === undefined) throw new Error('cannot run: the package earlyoom is not installed');
const env = {
  RUNS: process.env['RUNS'] ?? '5',
  RATES: process.env['RATES'] ?? '0.1,0.3,1',
  THRESHOLDS: process.env['THRESHOLDS'] ?? '200,500',
};
const command = ['node', 'bench/agent/race/race-earlyoom.ts'];
const program = { command, env, programs: [earlyoom], memoryMiB: MEMORY_MIB, timeoutMs: HOUR_MS };
const { status, stdout, console: log } = await runInGuest(neededTools(findGuestTools()), program);
if (status !== 0) throw new Error(`the race ended with ${status}: ${log.slice(-2000)}`);
const guest = JSON.parse(stdout) as object;
console.log(JSON.stringify({ benchmark: 'agent-race-guest', host: environment(), guest }, null, 2));
