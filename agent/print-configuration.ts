/** Prints the agent's validated settings as JSON, or its help. main.ts runs it in a separate process. */
import { readFileSync } from 'node:fs';
import { describeSettings, loadConfiguration } from '#shared/runtime/configuration.ts';
import { type AgentConfiguration, agentConfiguration } from './configuration.ts';

/** The settings from the command line, the environment and a file. */
export type ReadSettings =
  | { readonly kind: 'settings'; readonly value: AgentConfiguration }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly string[] }
  | { readonly kind: 'help'; readonly text: string };

const ENV_PREFIX = 'PLIMSOLL';
const argv = process.argv.slice(2);
const nodeName = process.env['NODE_NAME'];

function read(): ReadSettings {
  if (argv.includes('--help')) {
    const settings = describeSettings(agentConfiguration, ENV_PREFIX);
    return { kind: 'help', text: `Usage: node agent/main.ts [flags]\n\n${settings}` };
  }
  const loaded = loadConfiguration({
    kind: 'AgentConfiguration',
    schema: agentConfiguration,
    argv,
    env: nodeName === undefined ? process.env : { PLIMSOLL_NODE_NAME: nodeName, ...process.env },
    envPrefix: ENV_PREFIX,
    readFile: (path) => readFileSync(path, 'utf8'),
  });
  return loaded.ok ? { kind: 'settings', value: loaded.value } : { kind: 'mistakes', mistakes: loaded.mistakes };
}

console.log(JSON.stringify(read()));
