import { Command } from 'commander';
import { reviewCommand } from './review-command.ts';
import type { ProcessIo } from './process-io.ts';
import { versionCommand } from './version-command.ts';

/** All commands; `name` is what the user types for the program. Wrong usage is thrown as a CommanderError. */
export function createProgram(name: string, io: ProcessIo): Command {
  const program = new Command(name)
    .description('Plimsoll makes Kubernetes overcommit safe: what it decides, asked from the command line.')
    .exitOverride()
    .helpCommand('help [command]', 'show the help of a command');
  for (const command of [reviewCommand(io), versionCommand(io)])
    program.addCommand(command.copyInheritedSettings(program).helpOption('-h, --help', 'show this help'));
  return program.helpOption('-h, --help', 'show this help');
}
