import type { Command } from 'commander';
import { Readable } from 'node:stream';
import { createProgram } from '#cli/program.ts';
import type { ProcessIo } from '#cli/process-io.ts';

const INTRODUCTION = `# Command line reference

The help of each command; [the guide](../guides/command-line.md) shows examples with their output.

This page is generated from the code (\`npm run generate\`).
`;
const WIDTH = 80;

/** Commands that only print their help. */
const NO_IO: ProcessIo = {
  standardInput: Readable.from([]),
  print: () => undefined,
  tell: () => undefined,
  exit: () => undefined,
  now: () => 0,
};

/** The reference page of all commands, in Markdown. */
export function describeCommandLine(): string {
  return [INTRODUCTION, ...describeCommand(createProgram('plimsoll', NO_IO), '')].join('\n');
}

function describeCommand(command: Command, parent: string): readonly string[] {
  const name = `${parent} ${command.name()}`.trim();
  const visible = command.createHelp().visibleCommands(command);
  const below = command.commands
    .filter((each) => visible.includes(each))
    .flatMap((each) => describeCommand(each, name));
  return [`## ${name}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`, ...below];
}

function helpOf(command: Command): string {
  let text = '';
  const writeOut = (part: string): void => void (text += part);
  command.configureOutput({ writeOut, getOutHelpWidth: () => WIDTH, getOutHasColors: () => false });
  command.outputHelp();
  return text.trimEnd();
}
