import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { endRun, sweepDeadRuns } from '#test/cluster/support/run/end-run.ts';
import { textOf } from '#test/cluster/support/run/process-identity.ts';
import { makeRunFolder } from '#test/cluster/support/run/run-folder.ts';
import { baseImage } from '#test/cluster/guest/image/base-image.ts';
import type { FoundGuestTools } from '#test/cluster/guest/image/find-guest-tools.ts';
import { inTime } from './in-time.ts';
import { packPayload, quoted } from '#test/cluster/guest/image/pack-payload.ts';
import { type Guest, isLostToEmulation, MAX_BOOTS, startQemu } from './start-qemu.ts';

const USUAL_MEMORY_MIB = 2048;
const CPUS = 2;
const LAST_WORDS = 500;
/** With less time left another boot would come to nothing. */
const LEAST_MS = 10_000;

export interface GuestProgram {
  /** Run in the root of the repository's sources, with Node and busybox on the PATH. */
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Programs of this machine that the guest finds on its PATH too; they may need the C library, nothing else. */
  readonly programs?: readonly string[];
  /** Of the guest. */
  readonly memoryMiB?: number;
  /** Of all boots together. */
  readonly timeoutMs: number;
  /** How long a guest may be without a pulse (start-qemu.ts). */
  readonly stillMs?: number;
}

/** What a program printed, and how it ended. */
export interface GuestRun {
  readonly status: number;
  readonly stdout: string;
  /** Its standard error, among what the kernel said. */
  readonly console: string;
}

/**
 * Boots a guest, runs one program of this repository's present sources in it, as root and on cgroup v2 with PSI, and
 * ends the guest; while there is time, once more where it failed and a program or the guest was lost to the emulation.
 * Rejects with the end of the console when the guest did not come to its end in time.
 */
export async function runInGuest(
  tools: FoundGuestTools,
  program: GuestProgram,
  log: { write(text: string): unknown } = process.stderr,
): Promise<GuestRun> {
  await sweepDeadRuns();
  const endMs = performance.now() + program.timeoutMs;
  for (let boots = 1; ; boots += 1) {
    const run = await runOnce(tools, program, endMs - performance.now());
    const isLast = boots === MAX_BOOTS || endMs - performance.now() < LEAST_MS;
    if (isLast || !isWorthAnother(run)) return ended(run);
    log.write(`a guest is started again: ${run.console.slice(-LAST_WORDS)}\n`);
  }
}

/** Without a status the guest did not come to its end. */
type Ending = Omit<GuestRun, 'status'> & { readonly status: number | undefined };

function isWorthAnother({ status, console }: Ending): boolean {
  return status === undefined || (status !== 0 && isLostToEmulation(console));
}

function ended({ status, ...run }: Ending): GuestRun {
  if (status === undefined) throw new Error(`the guest did not come to its end: ${run.console.slice(-2000)}`);
  return { status, ...run };
}

async function runOnce(tools: FoundGuestTools, program: GuestProgram, timeoutMs: number): Promise<Ending> {
  const folder = makeRunFolder('guest');
  try {
    const { memoryMiB = USUAL_MEMORY_MIB, stillMs } = program;
    const machine = { folder, memoryMiB, cpus: CPUS, image: baseImage(tools.busybox), ...(stillMs && { stillMs }) };
    const guest = startQemu(tools, {
      ...machine,
      payload: packPayload(folder, scriptOf(program), program.programs ?? []),
    });
    const stdout = await outputOf(guest, timeoutMs);
    const console = textOf(join(folder, 'console.log')).replaceAll('\r', '');
    return { stdout, console, status: statusIn(console) };
  } finally {
    await endRun(folder);
  }
}

/** What the guest wrote to its second serial port, once it has ended; a guest that takes too long is ended. */
async function outputOf(guest: Guest, timeoutMs: number): Promise<string> {
  const [stdout] = await inTime(guest, timeoutMs, Promise.all([text(guest.stdout), once(guest, 'exit')]));
  return stdout;
}

function scriptOf({ command, env = {} }: GuestProgram): string {
  const variables = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
  return `${variables.join('')}exec ${command.map(quoted).join(' ')}\n`;
}

/** The last word of the console is the guest's, whatever a program has said before. */
function statusIn(console: string): number | undefined {
  const status = [...console.matchAll(/^GUEST-STATUS (?<status>\d+)$/gm)].at(-1)?.groups?.['status'];
  return status === undefined ? undefined : Number(status);
}
