import pino from 'pino';
import { describeError } from './describe-error.ts';
import { formatLogLine } from './format-log-line.ts';

export type Log = pino.Logger;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export const LOG_FORMATS = ['json', 'text'] as const;

export interface LogOptions {
  /** Who speaks: `webhook`, `agent` …; the `logger` field of each line. */
  readonly component: string;
  readonly level: (typeof LOG_LEVELS)[number];
  readonly format: (typeof LOG_FORMATS)[number];
  /** Where lines go: standard output unless said. */
  readonly destination?: { write(line: string): void };
}

/** Names whose values never reach a line: credentials, keys, and patches (they repeat what a tenant wrote). */
const SECRETS = ['token', 'authorization', 'password', 'patch', 'keyPem', 'clientKey'];
const REDACTED = SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** A pino log: level as a word, ISO time, `msg`; written synchronously so that no line is lost at the end. */
export function createLog(options: LogOptions): Log {
  const destination = options.destination ?? pino.destination({ dest: 1, sync: true });
  return pino(
    {
      level: options.level,
      base: { logger: options.component },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      redact: { paths: REDACTED, censor: '[redacted]' },
    },
    options.format === 'text' ? asText(destination) : destination,
  );
}

function asText(destination: { write(line: string): void }): { write(line: string): void } {
  return { write: (line) => destination.write(formatLogLine(line)) };
}
