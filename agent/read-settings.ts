import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { AgentConfiguration } from './configuration.ts';

/** The settings from the command line, the environment and a file. */
export type ReadSettings =
  | { readonly kind: 'settings'; readonly value: AgentConfiguration }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly string[] }
  | { readonly kind: 'help'; readonly text: string };

const PROGRAM = fileURLToPath(new URL('./print-configuration.ts', import.meta.url));

/**
 * Reads the settings in a separate process that ends before the agent starts: the library that validates them takes 7
 * MiB of private memory and 12 MiB in total, on every node, and is needed only once. Throws if that process fails.
 */
export function readSettings(argv: readonly string[]): ReadSettings {
  const { stdout, error, status } = spawnSync(process.execPath, [...process.execArgv, PROGRAM, ...argv], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`cannot read the settings: exit code ${String(status)}, expected 0`);
  return JSON.parse(stdout) as ReadSettings;
}
