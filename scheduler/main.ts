/** The scheduler process: answers kube-scheduler which victims of a preemption may go. */
import { readFileSync } from 'node:fs';
import { describeSettings, loadConfiguration } from '#shared/runtime/configuration.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createShutdown } from '#shared/runtime/shutdown.ts';
import { schedulerSchema } from './configuration.ts';
import { startScheduler } from './scheduler.ts';

const ENV_PREFIX = 'PLIMSOLL';
const RELEASE_MS = 10_000;
const EXIT_BAD_CONFIGURATION = 2;
const argv = process.argv.slice(2);

if (argv.includes('--help')) {
  console.log(`Usage: node scheduler/main.ts [flags]\n\n${describeSettings(schedulerSchema, ENV_PREFIX)}`);
  process.exit(0);
}

const loaded = loadConfiguration({
  kind: 'SchedulerConfiguration',
  schema: schedulerSchema,
  argv,
  env: process.env,
  envPrefix: ENV_PREFIX,
  readFile: (path) => readFileSync(path, 'utf8'),
});
if (!loaded.ok) {
  for (const mistake of loaded.mistakes) console.error(mistake);
  process.exit(EXIT_BAD_CONFIGURATION);
}

const configuration = loaded.value;
const { logLevel: level, logFormat: format, drainSeconds } = configuration;
const log = createLog({ component: 'scheduler', level, format });
const shutdown = createShutdown({ log, clock: systemClock, deadlineMs: drainSeconds * 1_000 + RELEASE_MS });
try {
  const { port, healthPort } = await startScheduler(configuration, {
    clock: systemClock,
    random: Math.random,
    log,
    env: process.env,
    shutdown,
  });
  log.info({ port, healthPort }, 'Scheduler started');
} catch (error) {
  log.fatal({ reason: errorText(error) }, 'Could not start');
  await shutdown.stop('could not start', 1);
}
process.exit(await shutdown.finished);
