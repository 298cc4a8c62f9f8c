import pino from 'pino';
import { describeError } from './describe-error.ts';

export type Log = pino.Logger;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export const LOG_FORMATS = ['json', 'text'] as const;

export interface LogOptions {
  /** The component, `webhook`, `agent` …: the `logger` field of each line. */
  readonly component: string;
  readonly level: (typeof LOG_LEVELS)[number];
  readonly format: (typeof LOG_FORMATS)[number];
  /** Where lines go: standard output by default. */
  readonly destination?: { write(line: string): void };
}

/** Names whose values are never logged: credentials, keys, and patches (they repeat tenant input). */
const SECRETS = ['token', 'authorization', 'password', 'patch', 'keyPem', 'clientKey'];
const REDACTED = SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** A pino log: level as a word, ISO time, `msg`; written synchronously so that no line is lost at exit. */
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

/** Turns one JSON log line into a line for a terminal: `12:30:05.123 INFO  webhook  Listening port=10250`. */
function formatLogLine(json: string): string {
  const line: unknown = JSON.parse(json);
  if (typeof line !== 'object' || line === null) return json;
  const { level, time, logger, msg = '', ...rest } = line as Readonly<Record<string, unknown>>;
  const clockTime = String(time).slice(11, 23);
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${formatValue(value)}`);
  const head = `${clockTime} ${String(level).toUpperCase().padEnd(5)} ${String(logger)}`;
  return `${[head, printable(textOf(msg)), ...fields].join('  ')}\n`;
}

function formatValue(value: unknown): string {
  if (typeof value === 'string' && /^[\w./:@+-]+$/.test(value)) return value;
  return printable(JSON.stringify(value));
}

/** Control characters and direction marks could rewrite a terminal line, so they are escaped. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
