import { type Command, InvalidArgumentError, Option } from 'commander';
import { compileColumns } from './custom-columns.ts';
import { type Compiled, compileField, compileTemplate, type SortKey } from './json-path.ts';

const JSONPATH = 'jsonpath=';
const COLUMNS = 'custom-columns=';

/** Of a command that answers with one object. */
const OBJECT_FORMATS = ['table', 'json', 'yaml', JSONPATH] as const;
/** Of a command that lists objects of a cluster. */
const LIST_FORMATS = ['table', 'wide', 'name', 'json', 'yaml', JSONPATH, COLUMNS] as const;

/** `jsonpath=` is followed by a template, and `custom-columns=` by columns. */
export type OutputFormat =
  | Exclude<(typeof LIST_FORMATS)[number], typeof JSONPATH | typeof COLUMNS>
  | `jsonpath=${string}`
  | `custom-columns=${string}`;

/** `-o table|json|yaml|jsonpath=TEMPLATE`, of a command that answers with one object. */
export function outputOption(): Option {
  return optionWith(OBJECT_FORMATS);
}

/** As in kubectl for tables: also `-o wide` and `-o name`. */
export function listOutputOption(): Option {
  return optionWith(LIST_FORMATS);
}

/** Adds the flags of a command that lists objects: how they are printed, and in which order. */
export function addListOptions(command: Command): Command {
  return addSortOptions(command.addOption(listOutputOption()));
}

/** Adds `--sort-by` and `--no-headers`. */
export function addSortOptions(command: Command): Command {
  return command
    .option('--sort-by <path>', 'sort by a field of -o json, such as .metadata.name', parseSortKey)
    .option('--no-headers', 'omit the header row');
}

/** Adds `-w, --watch`. */
export function addWatchOption(command: Command): Command {
  return command.option('-w, --watch', 'after the list, print rows that change, until interrupted');
}

function parseSortKey(path: string): SortKey {
  const read = compileField(path);
  if (read === undefined) throw new InvalidArgumentError(`cannot read the path "${path}"`);
  return { path, read };
}

function optionWith(formats: readonly string[]): Option {
  const option = new Option('-o, --output <format>', 'output format').choices(formats).default('table');
  return option.argParser((text: string) => parseFormat(text, formats));
}

function parseFormat(text: string, formats: readonly string[]): OutputFormat {
  const template = templateOf(text);
  const columns = formats.includes(COLUMNS) ? columnsOf(text) : undefined;
  if (template !== undefined) expectCompiled(compileTemplate(template));
  else if (columns !== undefined) expectCompiled(compileColumns(columns));
  else if (!formats.includes(text)) throw new InvalidArgumentError(`Allowed choices are ${formats.join(', ')}.`);
  return text as OutputFormat;
}

function expectCompiled(compiled: Compiled<unknown>): void {
  if (!compiled.ok) throw new InvalidArgumentError(compiled.message);
}

/** The template of `jsonpath=TEMPLATE`; `undefined` for another format. */
export function templateOf(format: string): string | undefined {
  return format.startsWith(JSONPATH) ? format.slice(JSONPATH.length) : undefined;
}

/** The columns of `custom-columns=COLUMNS`; `undefined` for another format. */
export function columnsOf(format: string): string | undefined {
  return format.startsWith(COLUMNS) ? format.slice(COLUMNS.length) : undefined;
}

/** Whether the format is for people: only then notes and warnings are printed. */
export function isTable(format: OutputFormat): format is 'table' | 'wide' {
  return format === 'table' || format === 'wide';
}
