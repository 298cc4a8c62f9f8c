import type { Command } from 'commander';

/** Whether a value follows each flag of a command and its subcommands, by the flag's names. */
export type FlagArity = ReadonlyMap<string, boolean>;

/** The flags of a command and its subcommands. */
export function flagArity(command: Command): FlagArity {
  return new Map(flagsOf(command));
}

function flagsOf(command: Command): readonly (readonly [string, boolean])[] {
  const own = command.options.flatMap(({ short, long, required }) =>
    [short, long].flatMap((flag) => (flag === undefined ? [] : [[flag, required] as const])),
  );
  return [...own, ...command.commands.flatMap(flagsOf)];
}

const END = '--';

/**
 * The same arguments as the parser understands them, read as kubectl reads them: `-n=x`, `-nx`, `-Aw`, `--watch=false`.
 * Without it, `-n=x` would name the namespace `=x`. What is unknown stays as it is.
 */
export function readAsPflag(flags: FlagArity, args: readonly string[]): readonly string[] {
  const read: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] as string;
    if (arg === END) return [...read, ...args.slice(at)];
    const plain = expand(flags, arg);
    read.push(...plain);
    const last = plain.at(-1) ?? '';
    const value = args[at + 1];
    if (flags.get(last) !== true || hasValue(flags, plain) || value === undefined) continue;
    read.push(value);
    at += 1;
  }
  return read;
}

/** Whether the last flag has its value already. */
function hasValue(flags: FlagArity, plain: readonly string[]): boolean {
  return plain.length > 1 && flags.get(plain.at(-2) ?? '') === true;
}

function expand(flags: FlagArity, arg: string): readonly string[] {
  if (arg.startsWith('--')) return expandLong(flags, arg);
  return arg.startsWith('-') && arg !== '-' ? (expandShort(flags, arg.slice(1)) ?? [arg]) : [arg];
}

function expandLong(flags: FlagArity, arg: string): readonly string[] {
  const [name, value] = splitAt(arg);
  if (value === undefined || flags.get(name) !== false) return [arg];
  return BOOLEANS.has(value) ? switched(name, value) : [arg];
}

/** The flags in `-Aw` or `-Anx`; `undefined` if one is unknown. */
function expandShort(flags: FlagArity, letters: string): readonly string[] | undefined {
  const read: string[] = [];
  for (let at = 0; at < letters.length; at += 1) {
    const name = `-${letters.charAt(at)}`;
    const rest = letters.slice(at + 1);
    const takesValue = flags.get(name);
    if (takesValue === undefined) return undefined;
    const value = rest.startsWith('=') ? rest.slice(1) : rest;
    if (takesValue) return [...read, name, ...(rest === '' ? [] : [value])];
    if (!rest.startsWith('=')) read.push(name);
    else return BOOLEANS.has(value) ? [...read, ...switched(name, value)] : undefined;
  }
  return read;
}

/** Values of boolean flags, as Go reads them. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
]);

/** Every boolean flag is off by default. */
function switched(name: string, value: string): readonly string[] {
  return BOOLEANS.get(value) === true ? [name] : [];
}

function splitAt(arg: string): readonly [string, string | undefined] {
  const at = arg.indexOf('=');
  return at < 0 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}
