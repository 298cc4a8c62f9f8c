import type { Command, Option } from 'commander';

/** The possible words at the cursor; the shell keeps those with the typed prefix. */
export type Completion = { readonly kind: 'words'; readonly words: readonly string[] } | { readonly kind: 'files' };

/** Completes the last of `words`, the arguments of the program; the last one may be empty. */
export function completionsFor(program: Command, words: readonly string[]): Completion {
  const { command, awaiting } = walk(program, words.slice(0, -1));
  if (awaiting !== undefined) return valuesOf(awaiting);
  const current = words.at(-1) ?? '';
  return { kind: 'words', words: current.startsWith('-') ? flagsOf(command) : wordsOf(command) };
}

/** The command that the words select, and the option whose value is the next word. */
interface CursorPlace {
  readonly command: Command;
  readonly awaiting: Option | undefined;
}

function walk(program: Command, words: readonly string[]): CursorPlace {
  const start: CursorPlace = { command: program, awaiting: undefined };
  return words.reduce<CursorPlace>(({ command, awaiting }, word) => {
    if (awaiting !== undefined) return { command, awaiting: undefined };
    if (word.startsWith('-')) return { command, awaiting: optionOf(command, word) };
    return { command: subcommandsOf(command).find((each) => isCalled(each, word)) ?? command, awaiting: undefined };
  }, start);
}

function isCalled(command: Command, word: string): boolean {
  return command.name() === word || command.aliases().includes(word);
}

function subcommandsOf(command: Command): readonly Command[] {
  return command.createHelp().visibleCommands(command);
}

function optionsOf(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command);
}

/** The option with this flag, if the next word is its value. */
function optionOf(command: Command, flag: string): Option | undefined {
  return optionsOf(command).find(({ short, long, required }) => required && (short === flag || long === flag));
}

const FILE = /<(file|manifests)\b/;

function valuesOf({ argChoices = [], flags }: Option): Completion {
  return FILE.test(flags) ? { kind: 'files' } : { kind: 'words', words: argChoices };
}

function flagsOf(command: Command): readonly string[] {
  return optionsOf(command).flatMap(({ short, long }) => [short, long].filter((flag) => flag !== undefined));
}

/** Commands, else the values of an argument; if neither is known, flags. */
function wordsOf(command: Command): readonly string[] {
  const commands = subcommandsOf(command).map((each) => each.name());
  if (commands.length > 0) return commands;
  const [argument] = command.registeredArguments;
  if (argument === undefined) return flagsOf(command);
  return argument.argChoices ?? [];
}
