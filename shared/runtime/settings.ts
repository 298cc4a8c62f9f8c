import type { z } from 'zod';

/** One value that a configuration file, the environment or a flag may set. */
export interface Setting {
  /** Keys from the root of the file. */
  readonly path: readonly string[];
  readonly flag: string;
  readonly variable: string;
  /** The plain name, where a Service could make it; it is refused and never read. */
  readonly refusedVariable?: string;
  readonly kind: 'text' | 'number' | 'boolean' | 'list';
  readonly description: string;
  /** What replaces this one; such a name is refused and never read. */
  readonly renamedTo?: Successor;
}

/** Another key, with dots between the parts, or a field of an object. */
export type Successor = string | ObjectField;

interface ObjectField {
  readonly field: string;
  /** Kind and name, or which of a kind. */
  readonly of: string;
}

/** Former keys and what replaces them. */
export type Renamed = Readonly<Record<string, Successor>>;

/** A strict object schema whose leaves are settings. Only a file can set lists of objects and maps. */
export type ConfigurationSchema = z.ZodObject;

const WRAPPERS = new Set(['default', 'prefault', 'optional', 'nullable', 'readonly', 'nonoptional', 'catch']);
/**
 * The variables that the kubelet and Docker links make of Services: NAME_SERVICE_HOST, NAME_SERVICE_PORT_WEB, NAME_PORT,
 * NAME_PORT_80_TCP_ADDR … The name of a Service and of its port begins and ends with a letter or a digit.
 */
const SERVICE_VARIABLE =
  /[A-Z0-9]_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9]([A-Z0-9_]*[A-Z0-9])?)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;
const KINDS: Readonly<Record<string, Setting['kind']>> = {
  string: 'text',
  enum: 'text',
  literal: 'text',
  union: 'text',
  pipe: 'text',
  number: 'number',
  boolean: 'boolean',
};

/**
 * Every setting of a schema, with nested objects flattened: key `tls.mode` has flag `--tls-mode` and variable
 * `PREFIX_TLS_MODE`. A name that a Service could make has two underscores before its last word: `PREFIX_HEALTH__PORT`.
 */
export function listSettings(schema: ConfigurationSchema, envPrefix: string, path: readonly string[] = []): Setting[] {
  return Object.entries(schema.shape).flatMap(([key, child]) => {
    const inner = unwrap(child as z.ZodType);
    const childPath = [...path, key];
    if (isObject(inner)) return listSettings(inner, envPrefix, childPath);
    const kind = kindOf(inner);
    return kind === undefined ? [] : [describe(child as z.ZodType, { childPath, kind, envPrefix })];
  });
}

/** The names that former settings had, so that none of them is ignored. */
export function renamedSettings(renamed: Renamed, envPrefix: string): readonly Setting[] {
  return Object.entries(renamed).map(([from, renamedTo]) => {
    const path = from.split('.');
    const { flag, variable } = namesOf(path, envPrefix);
    return { path, flag, variable, kind: 'text', description: '', renamedTo };
  });
}

/** The keys that a file may have at `path`. */
export function knownKeys(schema: ConfigurationSchema, path: readonly PropertyKey[]): readonly string[] {
  let current: z.ZodType = schema;
  for (const key of path) current = childAt(current, key) ?? current;
  return isObject(current) ? Object.keys(current.shape) : [];
}

function childAt(schema: z.ZodType, key: PropertyKey): z.ZodType | undefined {
  if (isObject(schema))
    return Object.hasOwn(schema.shape, key) ? unwrap(schema.shape[String(key)] as z.ZodType) : undefined;
  const { element, valueType } = schema.def as { element?: z.ZodType; valueType?: z.ZodType };
  const inner = element ?? valueType;
  return inner === undefined ? undefined : unwrap(inner);
}

function describe(
  schema: z.ZodType,
  { childPath, kind, envPrefix }: { childPath: readonly string[]; kind: Setting['kind']; envPrefix: string },
): Setting {
  return {
    path: childPath,
    ...namesOf(childPath, envPrefix),
    kind,
    description: schema.description ?? unwrap(schema).description ?? '',
  };
}

function namesOf(path: readonly string[], envPrefix: string): Pick<Setting, 'flag' | 'variable' | 'refusedVariable'> {
  const words = path.flatMap((key) => key.split(/(?=[A-Z])/)).map((word) => word.toLowerCase());
  return { flag: `--${words.join('-')}`, ...variableOf(`${envPrefix}_${words.join('_').toUpperCase()}`) };
}

function variableOf(plain: string): Pick<Setting, 'variable' | 'refusedVariable'> {
  if (!isServiceVariable(plain)) return { variable: plain };
  return { variable: plain.replace(/_(?=[^_]+$)/, '__'), refusedVariable: plain };
}

/** Whether a Service in the namespace of a pod could set a variable of this name in its containers. */
export function isServiceVariable(name: string): boolean {
  return SERVICE_VARIABLE.test(name);
}

function kindOf(schema: z.ZodType): Setting['kind'] | undefined {
  if (schema.def.type !== 'array') return KINDS[schema.def.type];
  const { element } = schema.def as unknown as { element: z.ZodType };
  return KINDS[unwrap(element).def.type] === 'text' ? 'list' : undefined;
}

function unwrap(schema: z.ZodType): z.ZodType {
  const { type, innerType } = schema.def as unknown as { type: string; innerType?: z.ZodType };
  return WRAPPERS.has(type) && innerType !== undefined ? unwrap(innerType) : schema;
}

function isObject(schema: z.ZodType): schema is z.ZodObject {
  return schema.def.type === 'object';
}

/** A value and its path of keys. */
export interface SettingValue {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The settings in flags or the environment, and the mistakes in them. */
export interface SettingValues {
  readonly values: readonly SettingValue[];
  readonly mistakes: readonly string[];
}

/** The settings in the environment; unknown variables are ignored, because they belong to other programs. */
export function valuesFromEnvironment(
  settings: readonly Setting[],
  env: Readonly<Record<string, string | undefined>>,
): SettingValues {
  const values = settings.flatMap((setting) => {
    const text = env[setting.variable];
    return text === undefined || text === '' || setting.renamedTo !== undefined
      ? []
      : [{ path: setting.path, value: parseText(setting, text) }];
  });
  const mistakes = settings.flatMap((setting) => [
    ...refusedVariable(setting, env),
    ...renamedVariable(setting, settings, env),
  ]);
  return { values, mistakes };
}

function renamedVariable(
  { variable, renamedTo }: Setting,
  settings: readonly Setting[],
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  if (renamedTo === undefined || (env[variable] ?? '') === '') return [];
  const set = (key: string): string => `set ${settingAt(settings, key)?.variable ?? 'another variable'}`;
  return [`${variable}: ${replacedText(renamedTo, set)}`];
}

function settingAt(settings: readonly Setting[], key: string): Setting | undefined {
  return settings.find((each) => each.renamedTo === undefined && each.path.join('.') === key);
}

/** What to do where a setting was replaced; `useKey` says it of another key. */
export function replacedText(by: Successor, useKey: (key: string) => string): string {
  if (typeof by === 'string') return `renamed, ${useKey(by)} instead`;
  return `set ${by.field} of ${by.of} instead, which takes effect without a restart`;
}

/** A value that a Service made is left alone: a Service must not keep a process from starting. */
function refusedVariable(
  { variable, refusedVariable: name }: Setting,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const text = name === undefined ? undefined : env[name];
  if (name === undefined || text === undefined || text === '' || isOfService(name, text, env)) return [];
  return [`${name}: a Service could set this variable; set ${variable} instead`];
}

/** NAME_PORT of a Service is a URL, and beside NAME_SERVICE_PORT there is NAME_SERVICE_HOST. */
function isOfService(name: string, text: string, env: Readonly<Record<string, string | undefined>>): boolean {
  const host = /^(.+_SERVICE)_PORT/.exec(name)?.[1];
  return text.includes('://') || (host !== undefined && env[`${host}_HOST`] !== undefined);
}

/** The settings in `--flag value`, `--flag=value` or, for booleans, `--flag`. Repeated list flags add up. */
export function valuesFromFlags(settings: readonly Setting[], argv: readonly string[]): SettingValues {
  const values: SettingValue[] = [];
  const mistakes: string[] = [];
  for (let index = 0; index < argv.length;) {
    const { flag, attached } = splitFlag(argv[index] ?? '');
    const setting = settings.find((known) => known.flag === flag);
    const next = attached === undefined && takesNext(setting, argv[index + 1]) ? argv[index + 1] : undefined;
    const read =
      setting === undefined ? unknownFlag(flag, settings) : readFlag(setting, settings, flag, attached ?? next);
    if (typeof read === 'string') mistakes.push(read);
    else values.push(read);
    index += next === undefined ? 1 : 2;
  }
  return { values, mistakes };
}

/** The value, or the mistake in it. */
function readFlag(
  setting: Setting,
  settings: readonly Setting[],
  flag: string,
  given: string | undefined,
): SettingValue | string {
  const use = (key: string): string => `use ${settingAt(settings, key)?.flag ?? 'another flag'}`;
  if (setting.renamedTo !== undefined) return `${flag}: ${replacedText(setting.renamedTo, use)}`;
  const text = given ?? (setting.kind === 'boolean' ? 'true' : undefined);
  return text === undefined ? `${flag}: a value is missing` : { path: setting.path, value: parseText(setting, text) };
}

function splitFlag(argument: string): { readonly flag: string; readonly attached: string | undefined } {
  const equals = argument.startsWith('--') ? argument.indexOf('=') : -1;
  if (equals < 0) return { flag: argument, attached: undefined };
  return { flag: argument.slice(0, equals), attached: argument.slice(equals + 1) };
}

/** Skips the value of an unknown flag too, so that one mistake is not reported as two. */
function takesNext(setting: Setting | undefined, next: string | undefined): boolean {
  if (next === undefined || next.startsWith('--')) return false;
  return setting?.kind !== 'boolean' || next === 'true' || next === 'false';
}

/** A text that does not fit the kind of a setting stays text, so that the schema reports the mistake. */
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
    settings.filter(({ renamedTo }) => renamedTo === undefined).map((setting) => setting.flag),
  );
  return nearest === undefined ? `${flag}: unknown flag` : `${flag}: unknown flag, did you mean ${nearest}?`;
}

/** The name closest to `name`, or `undefined` if none is close enough. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(2, name.length / 3) ? best.candidate : undefined;
}

/**
 * The number of insertions, deletions and substitutions that turn one text into the other; texts are cut at 64
 * characters.
 */
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
