import { Command } from 'commander';
import { buildInfo } from '#shared/runtime/build-info.ts';
import { checkCommand } from './check-command.ts';
import { completeCommand, completionCommand } from './completion-command.ts';
import { disruptionsCommand } from './disruptions-command.ts';
import { evictCommand } from './evict-command.ts';
import { explainCommand } from './explain-command.ts';
import { modeCommand } from './mode-command.ts';
import { reviewCommand } from './review-command.ts';
import { queueCommand } from './queue-command.ts';
import type { ProcessIo } from './process-io.ts';
import { simulateCommand } from './simulate-command.ts';
import { snapshotCommand } from './snapshot-command.ts';
import { topCommand } from './top-command.ts';
import { uninstallCommand } from './uninstall-command.ts';
import { whyNotCommand } from './why-not-command.ts';

/** `plimsoll version`: which build this is. */
function versionCommand(io: ProcessIo): Command {
  const description = 'Print version, commit and Node.js version.';
  return new Command('version').description(description).action(() => {
    const { version, commit, node_version: node } = buildInfo('cli');
    io.print(`plimsoll ${version} (commit ${commit}, Node.js ${node})\n`);
  });
}

/** All commands; `name` is what the user types for the program. Wrong usage is thrown as a CommanderError. */
export function createProgram(name: string, io: ProcessIo): Command {
  const program = new Command(name)
    .description('Plimsoll makes Kubernetes overcommit safe: what it decides, asked from the command line.')
    .exitOverride()
    .helpCommand('help [command]', 'show the help of a command')
    .helpOption('-h, --help', 'show this help');
  for (const command of COMMANDS) program.addCommand(inherit(command(io), program));
  program.addCommand(inherit(completeCommand(io), program), { hidden: true });
  return program;
}

const COMMANDS: readonly ((io: ProcessIo) => Command)[] = [
  checkCommand,
  completionCommand,
  disruptionsCommand,
  evictCommand,
  explainCommand,
  modeCommand,
  queueCommand,
  reviewCommand,
  simulateCommand,
  snapshotCommand,
  topCommand,
  uninstallCommand,
  versionCommand,
  whyNotCommand,
];

/** Gives a command that was created without a parent the settings of its parent, and its subcommands likewise. */
function inherit(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent).helpOption('-h, --help', 'show this help').helpCommand(false);
  for (const each of command.commands) inherit(each, command);
  return command;
}
