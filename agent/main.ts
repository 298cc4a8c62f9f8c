/**
 * The node agent, one per node: observes the node, decides whether to evict a pod, and asks the API server to evict it.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createShutdown, refuseConfiguration } from '#shared/runtime/shutdown.ts';
import { createAgent } from './agent.ts';
import type { ReadSettings } from './print-configuration.ts';

const SHUTDOWN_DEADLINE_MS = 1500;
const CONFIGURATION_PROGRAM = fileURLToPath(new URL('./print-configuration.ts', import.meta.url));

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

/**
 * Reads the settings in a separate process that ends before the agent starts: the library that validates them takes 7
 * MiB of private memory and 12 MiB in total, on every node, and is needed only once. Throws if that process fails.
 */
function readSettings(argv: readonly string[]): ReadSettings {
  const { stdout, error, status } = spawnSync(process.execPath, [...process.execArgv, CONFIGURATION_PROGRAM, ...argv], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`cannot read the settings: exit code ${String(status)}, expected 0`);
  return JSON.parse(stdout) as ReadSettings;
}
