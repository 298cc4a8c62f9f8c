import type { Setting } from './settings.ts';

/** A value and the keys under which it belongs. */
export interface SettingValue {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** What flags or the environment say, and what was wrong with them. */
export interface SettingValues {
  readonly values: readonly SettingValue[];
  readonly mistakes: readonly string[];
}

/** The settings found in the environment; unknown variables are ignored, as they belong to other programs. */
export function valuesFromEnvironment(
  settings: readonly Setting[],
  env: Readonly<Record<string, string | undefined>>,
): SettingValues {
  const values = settings.flatMap((setting) => {
    const text = env[setting.variable];
    return text === undefined || text === '' ? [] : [{ path: setting.path, value: parseText(setting, text) }];
  });
  return { values, mistakes: [] };
}

/** The settings given as `--flag value`, `--flag=value` or, for booleans, `--flag`. Repeated list flags add up. */
export function valuesFromFlags(settings: readonly Setting[], argv: readonly string[]): SettingValues {
  const values: SettingValue[] = [];
  const mistakes: string[] = [];
  for (let index = 0; index < argv.length;) {
    const { flag, attached } = splitFlag(argv[index] ?? '');
    const setting = settings.find((known) => known.flag === flag);
    const next = attached === undefined && takesNext(setting, argv[index + 1]) ? argv[index + 1] : undefined;
    const read = setting === undefined ? unknownFlag(flag, settings) : readFlag(setting, flag, attached ?? next);
    if (typeof read === 'string') mistakes.push(read);
    else values.push(read);
    index += next === undefined ? 1 : 2;
  }
  return { values, mistakes };
}

/** The value, or what is wrong with it. */
function readFlag(setting: Setting, flag: string, given: string | undefined): SettingValue | string {
  const text = given ?? (setting.kind === 'boolean' ? 'true' : undefined);
  return text === undefined ? `${flag}: a value must follow` : { path: setting.path, value: parseText(setting, text) };
}

function splitFlag(argument: string): { readonly flag: string; readonly attached: string | undefined } {
  const equals = argument.startsWith('--') ? argument.indexOf('=') : -1;
  if (equals < 0) return { flag: argument, attached: undefined };
  return { flag: argument.slice(0, equals), attached: argument.slice(equals + 1) };
}

/** An unknown flag takes what follows as well, so that one mistake is not reported as two. */
function takesNext(setting: Setting | undefined, next: string | undefined): boolean {
  if (next === undefined || next.startsWith('--')) return false;
  return setting?.kind !== 'boolean' || next === 'true' || next === 'false';
}

/** A text that does not fit its kind stays a text, so that the schema names the mistake. */
function parseText(setting: Setting, text: string): unknown {
  switch (setting.kind) {
    case 'number':
      return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : text;
    case 'list':
      return text.split(',').map((part) => part.trim());
    case 'text':
      return text;
  }
}

function unknownFlag(flag: string, settings: readonly Setting[]): string {
  if (!flag.startsWith('--')) return `"${flag}": expected a flag`;
  const nearest = nearestName(
    flag,
    settings.map((setting) => setting.flag),
  );
  return nearest === undefined ? `${flag}: unknown flag` : `${flag}: unknown flag, did you mean ${nearest}?`;
}

/** The name closest to `name`, or `undefined` when nothing is close enough to be meant. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(2, name.length / 3) ? best.candidate : undefined;
}

/** Insertions, deletions and substitutions that turn one text into the other; long texts are cut at 64. */
function editDistance(left: string, right: string): number {
  const target = right.slice(0, 64);
  let row = Array.from({ length: target.length + 1 }, (_, index) => index);
  const source = left.slice(0, 64);
  for (let index = 0; index < source.length; index += 1) row = nextRow(row, index + 1, source.charAt(index), target);
  return row.at(-1) ?? 0;
}

function nextRow(previous: readonly number[], first: number, character: string, target: string): number[] {
  const row = [first];
  for (let column = 1; column <= target.length; column += 1) {
    const substituted = at(previous, column - 1) + (target[column - 1] === character ? 0 : 1);
    row.push(Math.min(substituted, at(previous, column) + 1, at(row, column - 1) + 1));
  }
  return row;
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? 0;
}
