import type { Command } from 'commander';

/** What the user types for the program, as help texts repeat it. */
export function rootName(command: Command): string {
  return command.parent === null ? command.name() : rootName(command.parent);
}
