import type { Readable } from 'node:stream';
import { type Command, Option } from 'commander';
import type { Instant } from '#shared/domain/pod/pod.ts';

/** What a command uses of its process. */
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

/** The name of the program as the user types it, for help texts. */
export function rootName(command: Command): string {
  return command.parent === null ? command.name() : rootName(command.parent);
}

/** Input that cannot be used: printed as one line, and the command exits with 2. */
export class InputError extends Error {}

/**
 * As in kubectl: `none` sends the request, `client` sends nothing, `server` lets the API server check it without
 * storing it.
 */
export type DryRunStrategy = 'none' | 'client' | 'server';

/** What kubectl adds to the line about a change. */
export const DRY_RUN_NOTE: Readonly<Record<DryRunStrategy, string>> = {
  none: '',
  client: ' (dry run)',
  server: ' (server dry run)',
};

/** `--dry-run=none|client|server`. */
export function dryRunOption(): Option {
  return new Option('--dry-run <strategy>', 'client: only print what would change; server: check it there too')
    .choices(['none', 'client', 'server'] satisfies readonly DryRunStrategy[])
    .default('none');
}
