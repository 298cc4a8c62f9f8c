#!/usr/bin/env node
/** `plimsoll`: Plimsoll's decisions on the command line; also as kubectl's plugin `kubectl-plimsoll`. */
import { basename } from 'node:path';
import { CommanderError } from 'commander';
import { systemClock } from '#shared/runtime/clock.ts';
import { InputError, type ProcessIo } from './process-io.ts';
import { createProgram, flagsBehind } from './program.ts';

const EXIT_USAGE = 2;
const isPlugin = basename(process.argv[1] ?? '').startsWith('kubectl-');

const io: ProcessIo = {
  standardInput: process.stdin,
  print: (text) => void process.stdout.write(text),
  tell: (line) => void process.stderr.write(`${line}\n`),
  exit: (code) => (process.exitCode = code),
  now: () => systemClock.now(),
};
// A reader that stops early, such as `head`, closes the pipe.
process.stdout.on('error', () => undefined);

void run();

/** Not at the top level: the bundle is a CommonJS module, which may have any file name on the PATH. */
async function run(): Promise<void> {
  try {
    const program = createProgram(isPlugin ? 'kubectl plimsoll' : 'plimsoll', io);
    await program.parseAsync(flagsBehind(program, process.argv.slice(2)), { from: 'user' });
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  if (!(error instanceof InputError)) throw error;
  io.tell(`error: ${error.message}`);
  return EXIT_USAGE;
}
