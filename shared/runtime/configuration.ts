import { createRequire } from 'node:module';
import type { z } from 'zod';
import { errorText } from './describe-error.ts';
import {
  knownKeys,
  listSettings,
  type ConfigurationSchema,
  type Renamed,
  renamedSettings,
  replacedText,
  type Setting,
  nearestName,
  valuesFromEnvironment,
  valuesFromFlags,
  type SettingValue,
} from './settings.ts';
import type * as YamlText from './yaml-text.ts';

export interface ConfigurationSources<Schema extends ConfigurationSchema> {
  /** Kind of the file: `WebhookConfiguration` … */
  readonly kind: string;
  /** Strict objects with defaults; descriptions become the help. */
  readonly schema: Schema;
  /** Former keys, which are refused with the new one. */
  readonly renamed?: Renamed;
  /** Arguments after the program's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `PLIMSOLL`: setting `logLevel` is read from PLIMSOLL_LOG_LEVEL. */
  readonly envPrefix: string;
  /** Returns the text of the file named by `--config`; throws if it cannot be read. */
  readonly readFile: (path: string) => string;
}

export type Configuration<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly mistakes: readonly string[] };

type Content = Readonly<Record<string, unknown>>;

/**
 * Merges flags over environment over file over defaults, and checks the result as a whole: returns a typed value or all
 * mistakes.
 */
export function loadConfiguration<Schema extends ConfigurationSchema>(
  sources: ConfigurationSources<Schema>,
): Configuration<z.output<Schema>> {
  const { schema, env, envPrefix, argv, renamed = {} } = sources;
  const settings = [
    ...listSettings(schema, envPrefix),
    configSetting(envPrefix),
    ...renamedSettings(renamed, envPrefix),
  ];
  const environment = valuesFromEnvironment(settings, env);
  const given = valuesFromFlags(settings, argv);
  const { content: written, mistakes: fileMistakes } = readContent(sources, [...environment.values, ...given.values]);
  const content = withSwitches(schema, written);
  const merged = [...environment.values, ...combineLists(given.values)]
    .filter(isNotConfigPath)
    .reduce(overlay, content);
  const checked = schema.safeParse(merged);
  const mistakes = [
    ...fileMistakes,
    ...environment.mistakes,
    ...given.mistakes,
    ...(checked.success ? [] : describe(checked.error, { schema, renamed }, merged)),
  ];
  return checked.success && mistakes.length === 0 ? { ok: true, value: checked.data } : { ok: false, mistakes };
}

/** The text of `--help`: one line per setting. */
export function describeSettings(schema: ConfigurationSchema, envPrefix: string): string {
  const settings = [configSetting(envPrefix), ...listSettings(schema, envPrefix)];
  const width = Math.max(...settings.map(({ flag }) => flag.length));
  return settings.map(({ flag, description }) => `  ${flag.padEnd(width)}  ${description}`.trimEnd()).join('\n');
}

function configSetting(envPrefix: string): Setting {
  const description = 'Configuration file (YAML)';
  return { path: ['config'], flag: '--config', variable: `${envPrefix}_CONFIG`, kind: 'text', description };
}

function isNotConfigPath({ path }: SettingValue): boolean {
  return path.join('.') !== 'config';
}

function readContent(
  { readFile, kind }: Pick<ConfigurationSources<ConfigurationSchema>, 'readFile' | 'kind'>,
  values: readonly SettingValue[],
): { readonly content: Content; readonly mistakes: readonly string[] } {
  const file = values.findLast((value) => !isNotConfigPath(value))?.value;
  if (typeof file !== 'string') return { content: {}, mistakes: [] };
  try {
    const parsed = parseConfigurationFile(readFile(file), file, kind);
    return parsed.ok ? { content: parsed.content, mistakes: [] } : { content: {}, mistakes: parsed.mistakes };
  } catch (error) {
    return { content: {}, mistakes: [`cannot read configuration file "${file}": ${errorText(error)}`] };
  }
}

/** As for kubectl, On and Off without quotes are booleans, and here they are words. */
function withSwitches(schema: ConfigurationSchema, content: Content): Content {
  const issues = schema.safeParse(content).error?.issues ?? [];
  const switches = issues.flatMap((issue) => {
    const value = valueAt(content, issue.path);
    const isSwitch = issue.code === 'invalid_value' && issue.values.includes('On') && typeof value === 'boolean';
    return isSwitch ? [{ path: issue.path.map(String), value: value ? 'On' : 'Off' }] : [];
  });
  return switches.reduce(overlay, content);
}

/** Values of a list flag given twice are combined. */
function combineLists(values: readonly SettingValue[]): readonly SettingValue[] {
  const lists = new Map<string, SettingValue>();
  for (const { path, value } of values) {
    const earlier = lists.get(path.join('.'))?.value;
    const combined =
      Array.isArray(earlier) && Array.isArray(value) ? [...(earlier as unknown[]), ...(value as unknown[])] : value;
    lists.set(path.join('.'), { path, value: combined });
  }
  return [...lists.values()];
}

function overlay(content: Content, { path, value }: SettingValue): Content {
  const [key, ...rest] = path;
  if (key === undefined) return content;
  if (rest.length === 0) return { ...content, [key]: value };
  const child = content[key];
  const inner = typeof child === 'object' && child !== null ? (child as Content) : {};
  return { ...content, [key]: overlay(inner, { path: rest, value }) };
}

type Known = Required<Pick<ConfigurationSources<ConfigurationSchema>, 'schema' | 'renamed'>>;

function describe(error: z.ZodError, { schema, renamed }: Known, content: Content): readonly string[] {
  return error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => renamedKey(renamed, [...issue.path, key]) ?? unknownKey(schema, issue.path, key));
    const message = `${dotted(issue.path)}: ${issue.message}${quotedValue(content, issue.path)}`;
    return [renamedKey(renamed, issue.path) ?? missingSetting(schema, issue.path, content) ?? message];
  });
}

/** `undefined` if the setting has a value, which is then what is wrong. */
function missingSetting(
  schema: ConfigurationSchema,
  path: readonly PropertyKey[],
  content: Content,
): string | undefined {
  const setting = listSettings(schema, '').find((each) => each.path.join('.') === dotted(path));
  const isMissing = setting !== undefined && valueAt(content, path) === undefined;
  return isMissing ? `${dotted(path)}: a value is missing; set ${setting.flag}` : undefined;
}

function renamedKey(renamed: Renamed, path: readonly PropertyKey[]): string | undefined {
  const key = dotted(path);
  const to = Object.hasOwn(renamed, key) ? renamed[key] : undefined;
  return to === undefined ? undefined : `${key}: ${replacedText(to, (other) => `use ${other}`)}`;
}

function unknownKey(schema: ConfigurationSchema, path: readonly PropertyKey[], key: string): string {
  const nearest = nearestName(key, knownKeys(schema, path));
  const hint = nearest === undefined ? '' : `, did you mean "${nearest}"?`;
  return `${dotted([...path, key])}: unknown key${hint}`;
}

function quotedValue(content: Content, path: readonly PropertyKey[]): string {
  const value = valueAt(content, path);
  return typeof value === 'string' || typeof value === 'number'
    ? ` (found ${JSON.stringify(value).slice(0, 100)})`
    : '';
}

function valueAt(content: Content, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((node, key) => (isContent(node) ? Reflect.get(node, key) : undefined), content);
}

function isContent(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function dotted(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'configuration' : path.map(String).join('.');
}

export const CONFIGURATION_API_VERSION = 'config.plimsoll.dev/v1alpha1';

/** Loaded with the first file: it takes 4 MiB that a process without a file does not need. */
const require = createRequire(import.meta.url);

export type ConfigurationFile =
  { readonly ok: true; readonly content: Content } | { readonly ok: false; readonly mistakes: readonly string[] };

/** The settings in a configuration file (YAML or JSON), after checking and removing apiVersion and kind. */
function parseConfigurationFile(text: string, file: string, kind: string): ConfigurationFile {
  const parsed = parseYaml(text);
  if ('mistakes' in parsed) return { ok: false, mistakes: parsed.mistakes.map((mistake) => `${file}: ${mistake}`) };
  if (!isMapping(parsed.value)) return { ok: false, mistakes: [`${file}: expected a mapping of settings`] };
  const { apiVersion, kind: foundKind, ...content } = parsed.value;
  const mistakes = [
    ...expectHeader(file, 'apiVersion', { found: apiVersion, expected: CONFIGURATION_API_VERSION }),
    ...expectHeader(file, 'kind', { found: foundKind, expected: kind }),
  ];
  return mistakes.length > 0 ? { ok: false, mistakes } : { ok: true, content };
}

/** Read as kubectl reads YAML, except that duplicate keys are rejected. */
function parseYaml(text: string): { readonly value: unknown } | { readonly mistakes: readonly string[] } {
  const yaml = require('#shared/runtime/yaml-text.ts') as typeof YamlText;
  try {
    return { value: yaml.parseYaml(text, { uniqueKeys: true }) };
  } catch (error) {
    return { mistakes: [errorText(error)] };
  }
}

function expectHeader(
  file: string,
  key: string,
  { found, expected }: { readonly found: unknown; readonly expected: string },
): readonly string[] {
  if (found === expected) return [];
  const what = found === undefined ? 'nothing' : JSON.stringify(found);
  return [`${file}: ${key}: expected "${expected}", found ${what}`];
}

function isMapping(value: unknown): value is Content {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
