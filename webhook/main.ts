/** The admission webhook: decides whether a pod may have its priority, and charges it to the quotas that count it. */
import { readFileSync } from 'node:fs';
import { describeSettings, loadConfiguration } from '#shared/runtime/configuration.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createShutdown } from '#shared/runtime/shutdown.ts';
import { webhookSchema } from './configuration.ts';
import { startWebhook } from './webhook.ts';

const ENV_PREFIX = 'PLIMSOLL';
const RELEASE_MS = 10_000;
const EXIT_BAD_CONFIGURATION = 2;
const argv = process.argv.slice(2);

if (argv.includes('--help')) {
  console.log(`Usage: node webhook/main.ts [flags]\n\n${describeSettings(webhookSchema, ENV_PREFIX)}`);
  process.exit(0);
}

const loaded = loadConfiguration({
  kind: 'WebhookConfiguration',
  schema: webhookSchema,
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
const log = createLog({ component: 'webhook', level, format });
const shutdown = createShutdown({ log, clock: systemClock, deadlineMs: drainSeconds * 1_000 + RELEASE_MS });
try {
  const { port, healthPort } = await startWebhook(configuration, {
    clock: systemClock,
    random: Math.random,
    log,
    env: process.env,
    shutdown,
  });
  log.info({ port, healthPort, mode: configuration.mode }, 'Webhook started');
} catch (error) {
  log.fatal({ reason: errorText(error) }, 'Start failed');
  await shutdown.stop('start failed', 1);
}
process.exit(await shutdown.finished);
