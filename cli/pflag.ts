import type { Command } from 'commander';

/** A flag of a command: whether a value follows it, and all of its names. */
export interface Flag {
  readonly takesValue: boolean;
  readonly names: readonly string[];
}

/** The flags of a command and its subcommands, by each of their names. */
export type Flags = ReadonlyMap<string, Flag>;

export function flagsOf(command: Command): Flags {
  return new Map(entriesOf(command));
}

function entriesOf(command: Command): readonly (readonly [string, Flag])[] {
  const own = command.options.flatMap(({ short, long, required }) => {
    const names = [short, long].filter((name) => name !== undefined);
    return names.map((name) => [name, { takesValue: required, names }] as const);
  });
  return [...own, ...command.commands.flatMap(entriesOf)];
}

const END = '--';

/** A word of the command line, with the value that follows it; a boolean flag may be switched off. */
interface ReadWord {
  readonly name: string;
  readonly value?: string;
  readonly isOff?: boolean;
}

/**
 * The same arguments as the parser understands them, read as kubectl reads them: `-n=x`, `-nx`, `-Aw`, `--watch=false`;
 * of a flag that is repeated the last counts. Without it, `-n=x` would name the namespace `=x`. What is unknown stays as
 * it is.
 */
export function readAsPflag(flags: Flags, args: readonly string[]): readonly string[] {
  const read: ReadWord[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] as string;
    if (arg === END) return [...wordsOf(flags, read), ...args.slice(at)];
    const words = expand(flags, arg);
    const last = words.at(-1);
    const next = args[at + 1];
    const takesNext = last !== undefined && last.value === undefined && flags.get(last.name)?.takesValue === true;
    if (!takesNext || next === undefined) read.push(...words);
    else {
      read.push(...words.slice(0, -1), { ...last, value: next });
      at += 1;
    }
  }
  return wordsOf(flags, read);
}

/** Every boolean flag is off by default, so that one that is switched off later is left out. */
function wordsOf(flags: Flags, read: readonly ReadWord[]): readonly string[] {
  const isSwitchedOff = ({ name }: ReadWord, index: number): boolean => {
    const names = flags.get(name)?.names ?? [];
    return read.some((later, at) => at >= index && later.isOff === true && names.includes(later.name));
  };
  const kept = read.filter((word, index) => word.value !== undefined || !isSwitchedOff(word, index));
  return kept.flatMap(({ name, value }) => (value === undefined ? [name] : [name, value]));
}

function expand(flags: Flags, arg: string): readonly ReadWord[] {
  if (arg.startsWith('--')) return [expandLong(flags, arg)];
  const words = arg.startsWith('-') && arg !== '-' ? expandShort(flags, arg.slice(1)) : undefined;
  return words ?? [{ name: arg }];
}

function expandLong(flags: Flags, arg: string): ReadWord {
  const at = arg.indexOf('=');
  const [name, value] = [arg.slice(0, at), arg.slice(at + 1)];
  const isSwitch = at > 0 && flags.get(name)?.takesValue === false && BOOLEANS.has(value);
  return isSwitch ? { name, isOff: BOOLEANS.get(value) === false } : { name: arg };
}

/** The flags in `-Aw` or `-Anx`; `undefined` if one is unknown. A sign alone is a value: `-n=` names the namespace `=`. */
function expandShort(flags: Flags, letters: string): readonly ReadWord[] | undefined {
  const read: ReadWord[] = [];
  for (let at = 0; at < letters.length; at += 1) {
    const name = `-${letters.charAt(at)}`;
    const rest = letters.slice(at + 1);
    const flag = flags.get(name);
    if (flag === undefined) return undefined;
    const isSigned = rest.length > 1 && rest.startsWith('=');
    const value = isSigned ? rest.slice(1) : rest;
    if (flag.takesValue) return [...read, rest === '' ? { name } : { name, value }];
    if (!isSigned) read.push({ name });
    else return BOOLEANS.has(value) ? [...read, { name, isOff: BOOLEANS.get(value) === false }] : undefined;
  }
  return read;
}

/** Values of boolean flags, as Go reads them. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
]);
