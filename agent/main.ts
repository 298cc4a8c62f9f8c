/** The node agent: one per node. Reads how the node is, decides whether a pod has to go, and asks the API server to evict it. */
import { readFileSync } from 'node:fs';
import { createAgent } from './agent.ts';
import { agentConfiguration } from './configuration.ts';
import { describeSettings, loadConfiguration } from '#shared/runtime/configuration.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createShutdown } from '#shared/runtime/shutdown.ts';

const ENV_PREFIX = 'PLIMSOLL';
const SHUTDOWN_DEADLINE_MS = 1500;
const EXIT_BAD_CONFIGURATION = 2;
const argv = process.argv.slice(2);
const nodeName = process.env['NODE_NAME'];

if (argv.includes('--help')) {
  console.log(`Usage: node agent/main.ts [flags]\n\n${describeSettings(agentConfiguration, ENV_PREFIX)}`);
  process.exit(0);
}

const loaded = loadConfiguration({
  kind: 'AgentConfiguration',
  schema: agentConfiguration,
  argv,
  env: nodeName === undefined ? process.env : { PLIMSOLL_NODE_NAME: nodeName, ...process.env },
  envPrefix: ENV_PREFIX,
  readFile: (path) => readFileSync(path, 'utf8'),
});
if (!loaded.ok) {
  for (const mistake of loaded.mistakes) console.error(mistake);
  process.exit(EXIT_BAD_CONFIGURATION);
}

const { logLevel, logFormat } = loaded.value;
const log = createLog({ component: 'agent', level: logLevel, format: logFormat });
const shutdown = createShutdown({ log, clock: systemClock, deadlineMs: SHUTDOWN_DEADLINE_MS });
try {
  const agent = await createAgent(loaded.value, { clock: systemClock, log, env: process.env });
  shutdown.onRelease('agent', agent.stop);
  await agent.start(shutdown.signal);
} catch (error) {
  log.fatal(`Could not start: ${errorText(error)}`);
  await shutdown.stop('could not start', 1);
}
process.exit(await shutdown.finished);
