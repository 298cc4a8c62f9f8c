import type { Command, Help, Option } from 'commander';
import { Readable } from 'node:stream';
import { createProgram } from '#cli/program.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { code, markdownTable } from './markdown-table.ts';

const INTRODUCTION = `# Command line reference

Every command with its own flags; \`--help\` shows the same, and [the guide](../guides/command-line.md) examples with their output.

This page is generated from the code (\`npm run generate\`).
`;
const HEADER = ['argument', 'meaning'];
/** A flag of this many commands, with the same text, is described once. */
const COMMON_FROM = 4;
const HELP = '--help';

/** Commands that only print their help. */
const NO_IO: ProcessIo = {
  standardInput: Readable.from([]),
  print: () => undefined,
  tell: () => undefined,
  exit: () => undefined,
  now: () => 0,
};

interface ShownCommand {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly flags: readonly Flag[];
}

type Flag = readonly [term: string, meaning: string];

/** The reference page of all commands, in Markdown. */
export function describeCommandLine(): string {
  const commands = shownCommands(createProgram('plimsoll', NO_IO), '');
  const common = commonFlags(commands);
  const head = `## Flags of many commands\n\n${markdownTable(HEADER, common.map(row))}`;
  return [INTRODUCTION, head, ...commands.map((each) => describeCommand(each, common))].join('\n');
}

function describeCommand({ name, aliases, description, flags }: ShownCommand, common: readonly Flag[]): string {
  const own = flags.filter((flag) => !common.some((each) => isSame(each, flag)));
  const table = own.length === 0 ? '' : `\n${markdownTable(HEADER, own.map(row))}`;
  const also = aliases.length === 0 ? '' : ` Also ${aliases.map(code).join(', ')}.`;
  return `## ${name}\n\n${description}${also}\n${table}`;
}

function shownCommands(command: Command, parent: string): readonly ShownCommand[] {
  const help = command.createHelp();
  const name = `${parent} ${command.name()}`.trim();
  const shown = help.visibleCommands(command);
  const below = command.commands.filter((each) => shown.includes(each)).flatMap((each) => shownCommands(each, name));
  const flags = flagsOf(help, command);
  // What only groups others says nothing that they do not say.
  if (below.length > 0 && flags.length === 0) return below;
  return [{ name, aliases: command.aliases(), description: command.description(), flags }, ...below];
}

function flagsOf(help: Help, command: Command): readonly Flag[] {
  const options = help.visibleOptions(command).filter(({ long }) => long !== HELP);
  const names = help
    .visibleArguments(command)
    .map((each): Flag => [help.argumentTerm(each), help.argumentDescription(each)]);
  return [
    ...names,
    ...options.map((option: Option): Flag => [help.optionTerm(option), help.optionDescription(option)]),
  ];
}

function commonFlags(commands: readonly ShownCommand[]): readonly Flag[] {
  const all = commands.flatMap(({ flags }) => flags);
  const first = all.filter((flag, index) => all.findIndex((each) => isSame(each, flag)) === index);
  return first.filter((flag) => all.filter((each) => isSame(each, flag)).length >= COMMON_FROM);
}

function isSame([term, meaning]: Flag, [otherTerm, otherMeaning]: Flag): boolean {
  return term === otherTerm && meaning === otherMeaning;
}

function row([term, meaning]: Flag): Flag {
  return [code(term), meaning];
}
