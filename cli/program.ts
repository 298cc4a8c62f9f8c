import { Command, Help, type Option } from 'commander';
import { buildInfo, COMMIT_DATE } from '#shared/runtime/build-info.ts';
import { checkCommand } from './check-command.ts';
import { completeCommand, completionCommand } from './completion-command.ts';
import { dashboardCommand } from './dashboard-command.ts';
import { disruptionsCommand } from './disruptions-command.ts';
import { evictCommand } from './evict-command.ts';
import { explainCommand } from './explain-command.ts';
import { initCommand } from './init-command.ts';
import { modeCommand } from './mode-command.ts';
import { reviewCommand } from './review-command.ts';
import { formatAnswer, objectDocument } from './output/answer.ts';
import { type OutputFormat, outputOption } from './output/output-option.ts';
import { queueCommand } from './queue-command.ts';
import { type Flags, flagsOf, readAsPflag } from './pflag.ts';
import type { ProcessIo } from './process-io.ts';
import { simulateCommand } from './simulate-command.ts';
import { snapshotCommand } from './snapshot-command.ts';
import { topCommand } from './top-command.ts';
import { uninstallCommand } from './uninstall-command.ts';
import { whyNotCommand } from './why-not-command.ts';

/** `plimsoll version`: which build this is. */
function versionCommand(io: ProcessIo): Command {
  return new Command('version')
    .summary('print version, commit and Node.js version')
    .description('Print version, commit and Node.js version.')
    .addOption(outputOption())
    .action(async ({ output }: { readonly output: OutputFormat }) => {
      const { version, commit, node_version: nodeVersion } = buildInfo('cli');
      const document = objectDocument('Version', { version, commit, commitDate: COMMIT_DATE, nodeVersion });
      io.print(await formatAnswer({ document, table: () => `${versionLine()}\n` }, output));
    });
}

function versionLine(): string {
  const { version, commit, node_version: node } = buildInfo('cli');
  return `plimsoll ${version} (commit ${commit}, Node.js ${node})`;
}

/** All commands; `name` is what the user types for the program. Wrong usage is thrown as a CommanderError. */
export function createProgram(name: string, io: ProcessIo): Command {
  const program = new Command(name)
    .description('Explain and simulate what Plimsoll decides about priority, preemption and eviction.')
    .exitOverride()
    .version(versionLine(), '--version', 'show version, commit and Node.js version')
    .configureHelp({ optionDescription })
    .helpCommand('help [command]', 'show the help of a command')
    .helpOption('-h, --help', 'show this help');
  program.hook('preAction', (_, command) => withoutEmptyNamespace(command));
  for (const command of COMMANDS) program.addCommand(inherit(command(io), program));
  program.addCommand(inherit(completeCommand(io), program), { hidden: true });
  return program;
}

/** An empty namespace is none, as for kubectl; it must not become all namespaces. */
function withoutEmptyNamespace(command: Command): void {
  const { namespace } = command.opts<{ readonly namespace?: string }>();
  if (namespace === '') command.setOptionValue('namespace', undefined);
}

/** Boolean flags show no default. */
function optionDescription(option: Option): string {
  return option.defaultValue === false ? option.description : new Help().optionDescription(option);
}

const COMMANDS: readonly ((io: ProcessIo) => Command)[] = [
  checkCommand,
  completionCommand,
  dashboardCommand,
  disruptionsCommand,
  evictCommand,
  explainCommand,
  initCommand,
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
  command
    .copyInheritedSettings(parent)
    .optionsGroup('Options:')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .configureOutput({ outputError: (text, write) => write(withUsage(text, command)) });
  for (const each of command.commands) inherit(each, command);
  return command;
}

/** The name of an argument alone does not say what to type. */
function withUsage(text: string, command: Command): string {
  if (!text.includes('missing required argument')) return text;
  const usage = new Help().commandUsage(command);
  return `${text.trimEnd()}; usage: ${usage}; see ${usage.replace(/ \[options\].*/, '')} --help\n`;
}

/** The same arguments, read as kubectl reads them, with flags that stand before a command or its subcommand behind it. */
export function flagsBehind(program: Command, args: readonly string[]): readonly string[] {
  const flags = flagsOf(program);
  return commandFirst(program, readAsPflag(flags, args), flags);
}

/** `before` are the flags that were found so far. */
function commandFirst(
  command: Command,
  args: readonly string[],
  flags: Flags,
  before: readonly string[] = [],
): readonly string[] {
  const length = flagLength(args, flags);
  if (length > 0) return commandFirst(command, args.slice(length), flags, [...before, ...args.slice(0, length)]);
  const [word = '', ...rest] = args;
  const next = command.commands.find((each) => [each.name(), ...each.aliases()].includes(word));
  return next === undefined ? [...before, ...args] : [word, ...commandFirst(next, rest, flags, before)];
}

/** How many arguments the flag in front takes; 0 if none is there. */
function flagLength([first = '', next]: readonly string[], flags: Flags): number {
  const [name = '', value] = first.split('=', 2);
  const flag = flags.get(name);
  if (flag === undefined) return 0;
  return flag.takesValue && value === undefined && next !== undefined ? 2 : 1;
}
