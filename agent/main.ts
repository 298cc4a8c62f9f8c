/**
 * The node agent, one per node: observes the node, decides whether to evict a pod, and asks the API server to evict it.
 */
import { systemClock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createShutdown, refuseConfiguration } from '#shared/runtime/shutdown.ts';
import { createAgent } from './agent.ts';
import { readSettings } from './read-settings.ts';

const SHUTDOWN_DEADLINE_MS = 1500;

const settings = readSettings(process.argv.slice(2));
if (settings.kind === 'help') {
  console.log(settings.text);
  process.exit(0);
}
if (settings.kind === 'mistakes') refuseConfiguration(settings.mistakes);

const { logLevel, logFormat } = settings.value;
const log = createLog({ component: 'agent', level: logLevel, format: logFormat });
const shutdown = createShutdown({ log, clock: systemClock, deadlineMs: SHUTDOWN_DEADLINE_MS });
try {
  const agent = await createAgent(settings.value, { clock: systemClock, log, env: process.env });
  shutdown.onRelease('agent', agent.stop);
  await agent.start(shutdown.signal);
} catch (error) {
  log.fatal(`cannot start: ${errorText(error)}`);
  await shutdown.stop('start failed', 1);
}
process.exit(await shutdown.finished);
