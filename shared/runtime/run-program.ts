import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { type Clock, systemClock } from './clock.ts';
import { describeSettings, loadConfiguration } from './configuration.ts';
import { errorText } from './describe-error.ts';
import { createLog, type Log, type LOG_FORMATS, type LOG_LEVELS } from './log.ts';
import type { ConfigurationSchema, Renamed } from './settings.ts';
import { createShutdown, refuseConfiguration, type Shutdown } from './shutdown.ts';

/** Settings common to all long-lived programs. */
export interface CommonConfiguration {
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly logFormat: (typeof LOG_FORMATS)[number];
  readonly drainSeconds: number;
}

/** What a program gets from its process. */
export interface ProcessContext {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly shutdown: Shutdown;
}

export interface Program<S extends ConfigurationSchema> {
  /** The folder of its `main.ts`. */
  readonly component: string;
  /** Kind of its configuration file. */
  readonly kind: string;
  readonly schema: S;
  readonly renamed?: Renamed;
  /** Resolves with the fields to log about the start; rejects with an error that says what to fix. */
  readonly start: (configuration: z.output<S>, context: ProcessContext) => Promise<object>;
}

const ENV_PREFIX = 'PLIMSOLL';
const RELEASE_MS = 10_000;

/** Runs a program until a signal ends it. Exit codes: 0, 1 if it cannot start, 2 for an invalid configuration. */
export async function runProgram<S extends ConfigurationSchema & z.ZodType<CommonConfiguration>>(
  program: Program<S>,
): Promise<never> {
  const configuration = readConfiguration(program);
  const { logLevel: level, logFormat: format, drainSeconds } = configuration;
  const log = createLog({ component: program.component, level, format });
  const shutdown = createShutdown({ log, clock: systemClock, deadlineMs: drainSeconds * 1_000 + RELEASE_MS });
  try {
    const context = { clock: systemClock, random: Math.random, log, env: process.env, shutdown };
    log.info(await program.start(configuration, context), `${capitalised(program.component)} started`);
  } catch (error) {
    log.fatal({ reason: errorText(error) }, 'Start failed');
    await shutdown.stop('start failed', 1);
  }
  process.exit(await shutdown.finished);
}

function readConfiguration<S extends ConfigurationSchema>({
  component,
  kind,
  schema,
  renamed = {},
}: Program<S>): z.output<S> {
  const argv = process.argv.slice(2);
  if (argv.includes('--help')) {
    console.log(`Usage: node ${component}/main.ts [flags]\n\n${describeSettings(schema, ENV_PREFIX)}`);
    process.exit(0);
  }
  const readFile = (path: string): string => readFileSync(path, 'utf8');
  const loaded = loadConfiguration({ kind, schema, renamed, argv, env: process.env, envPrefix: ENV_PREFIX, readFile });
  return loaded.ok ? loaded.value : refuseConfiguration(loaded.mistakes);
}

function capitalised(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
