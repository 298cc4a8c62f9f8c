import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { endRun, sweepDeadRuns } from '#test/cluster/end-run.ts';
import { makeRunFolder } from '#test/cluster/run-folder.ts';
import { baseImage } from './base-image.ts';
import type { FoundGuestTools } from './find-guest-tools.ts';
import { runProgram } from './run-program.ts';
import { startQemu } from './start-qemu.ts';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
/** What a program of this repository may need beside its packages. */
const SOURCES = ['agent', 'shared', 'test', 'bench', 'package.json', 'tsconfig.json', 'vitest.config.ts'];
const USUAL_MEMORY_MIB = 2048;
const CPUS = 2;

export interface GuestProgram {
  /** Run in the root of the repository's sources, with Node and busybox on the PATH. */
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Programs of this machine that the guest finds on its PATH too; they may need the C library, nothing else. */
  readonly programs?: readonly string[];
  /** Of the guest. */
  readonly memoryMiB?: number;
  readonly timeoutMs: number;
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
 * ends the guest. Rejects with the end of the console when the guest did not come to its end in time.
 */
export async function runInGuest(tools: FoundGuestTools, program: GuestProgram): Promise<GuestRun> {
  await sweepDeadRuns();
  const folder = makeRunFolder('guest');
  try {
    const { memoryMiB = USUAL_MEMORY_MIB } = program;
    const machine = { folder, memoryMiB, cpus: CPUS, image: baseImage(tools.busybox) };
    const guest = startQemu(tools, { ...machine, payload: pack(folder, program) });
    const tooLong = setTimeout(() => guest.kill('SIGKILL'), program.timeoutMs);
    const [stdout] = await Promise.all([guest.stdout === null ? '' : text(guest.stdout), once(guest, 'exit')]);
    clearTimeout(tooLong);
    return { stdout, ...ending(readFileSync(join(folder, 'console.log'), 'utf8').replaceAll('\r', '')) };
  } finally {
    await endRun(folder);
  }
}

/** The archive with the sources, the programs and the script that starts. */
function pack(folder: string, { command, env = {}, programs = [] }: GuestProgram): string {
  const variables = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
  writeFileSync(join(folder, 'command'), `${variables.join('')}exec ${command.map(quoted).join(' ')}\n`);
  const archive = join(folder, 'payload.tar');
  const extra = programs.flatMap((path) => ['-C', '/', path.slice(1)]);
  runProgram('tar', ['-c', '-f', archive, '-C', folder, 'command', '-C', REPOSITORY, ...SOURCES, ...extra]);
  return archive;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function ending(console: string): Pick<GuestRun, 'status' | 'console'> {
  const status = /^GUEST-STATUS (?<status>\d+)$/m.exec(console)?.groups?.['status'];
  if (status === undefined) throw new Error(`the guest did not come to its end: ${console.slice(-2000)}`);
  return { status: Number(status), console };
}
