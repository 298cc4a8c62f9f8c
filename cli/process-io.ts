import type { Readable } from 'node:stream';
import { type Command, Option } from 'commander';
import type { Instant } from '#shared/domain/pod/pod.ts';

/** What a command has of the process it runs in. */
export interface ProcessIo {
  readonly standardInput: Readable;
  /** Writes to standard output as it is. */
  print(text: string): void;
  /** Writes one line to standard error. */
  tell(line: string): void;
  /** Sets the exit code; the process ends when everything is written. */
  exit(code: number): void;
  now(): Instant;
}

/** What the user types for the program, as help texts repeat it. */
export function rootName(command: Command): string {
  return command.parent === null ? command.name() : rootName(command.parent);
}

/** Input that cannot be used: printed as one line, and the command exits with 2. */
export class InputError extends Error {}

/** kubectl's word for what is sent: everything, nothing, or what the API server checks but does not store. */
export type DryRunStrategy = 'none' | 'client' | 'server';

/** `--dry-run=none|client|server`. */
export function dryRunOption(): Option {
  return new Option('--dry-run <strategy>', 'client: only print what would change; server: check it there too')
    .choices(['none', 'client', 'server'] satisfies readonly DryRunStrategy[])
    .default('none');
}
