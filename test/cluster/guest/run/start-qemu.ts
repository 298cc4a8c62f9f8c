import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { markedEnvironment } from '#test/cluster/support/run/leftovers.ts';
import type { FoundGuestTools } from '#test/cluster/guest/image/find-guest-tools.ts';

export interface Machine {
  /** The run's folder (run-folder.ts); the console is written to `console.log` in it. */
  readonly folder: string;
  readonly memoryMiB: number;
  readonly cpus: number;
  /** The ext4 image with `/init`; what the guest writes is thrown away. */
  readonly image: string;
  /** A file that the guest sees as `/dev/nvme1n1`, read-only. */
  readonly payload: string;
  /** Further flags, for instance a network. */
  readonly flags?: readonly string[];
  /** How long the guest may be without a pulse: one that is short of memory has none for a while. */
  readonly stillMs?: number;
}

const USUAL_STILL_MS = 180_000;
const LOOK_MS = 1_000;

/** Software emulation: hardware virtualisation is seldom to be had where tests run. */
const EMULATION = ['-accel', 'tcg,thread=multi,tb-size=1024', '-cpu', 'max'];
const KERNEL_FLAGS = 'console=ttyS0 root=/dev/nvme0n1 rw init=/init psi=1 panic=-1 quiet';

/** By name, as a shell or the kernel tells of it, and as the exit code of a program that a signal ended (128 and its number). */
const LOST =
  /SIG(SEGV|ILL|BUS|TRAP)|Segmentation fault|Illegal instruction|Bus error|breakpoint trap|general protection fault|unexpected fatal signal (4|5|7|11)\b|GUEST-STATUS 13[2359]\b/;

/**
 * Whether a program of the guest was lost to its emulation: now and then Node.js ends by SIGSEGV or a
 * like signal at its first pages, which on a processor it does not. Then the guest is worth another boot.
 */
export function isLostToEmulation(said: string): boolean {
  return LOST.test(said);
}

/** How often a guest is booted at most. */
export const MAX_BOOTS = 5;

/** Its second serial port is the child's standard input and output. */
export type Guest = ChildProcessByStdio<Writable, Readable, null>;

/**
 * Starts a machine. The kernel kills it with the process that called this, however that one ends. A guest that stands
 * still is killed: once in a long while what is emulated does, and says nothing more.
 */
export function startQemu({ qemu, kernel }: FoundGuestTools, machine: Machine): Guest {
  const { folder, memoryMiB, cpus, image, payload, flags = [], stillMs = USUAL_STILL_MS } = machine;
  const pulse = join(folder, 'pulse.log');
  const disk = (file: string, index: number, options: string): readonly string[] => [
    '-drive',
    `file=${file},format=raw,if=none,id=disk${index},cache=unsafe,${options}`,
    '-device',
    `nvme,drive=disk${index},serial=${index}`,
  ];
  const args = [
    ...EMULATION,
    '-smp',
    String(cpus),
    '-m',
    String(memoryMiB),
    '-display',
    'none',
    '-monitor',
    'none',
    '-no-reboot',
    '-serial',
    `file:${folder}/console.log`,
    '-serial',
    'stdio',
    '-serial',
    `file:${pulse}`,
    ...disk(image, 0, 'snapshot=on'),
    ...disk(payload, 1, 'readonly=on'),
    '-kernel',
    kernel.image,
    '-append',
    KERNEL_FLAGS,
    ...flags,
  ];
  const guest = spawn('setpriv', ['--pdeathsig', 'KILL', qemu, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...markedEnvironment(folder), TMPDIR: folder },
  });
  killWhenStill(guest, pulse, stillMs);
  return guest;
}

function killWhenStill(guest: Guest, pulse: string, stillMs: number): void {
  const look = (): void => {
    const lastMs = statSync(pulse, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - lastMs > stillMs) guest.kill('SIGKILL');
  };
  const watch = setInterval(look, LOOK_MS).unref();
  guest.once('exit', () => clearInterval(watch));
}
