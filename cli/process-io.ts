import type { Readable } from 'node:stream';
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
