import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import { errorText, firstLine } from './describe-error.ts';

export const CONFIGURATION_API_VERSION = 'config.plimsoll.dev/v1alpha1';

/** Loaded with the first file: 4 MiB that a process configured by flags alone does not need. */
const require = createRequire(import.meta.url);

type Content = Readonly<Record<string, unknown>>;

export type ConfigurationFile =
  { readonly ok: true; readonly content: Content } | { readonly ok: false; readonly mistakes: readonly string[] };

/** The settings in a configuration file (YAML or JSON), its apiVersion and kind checked and taken off. */
export function parseConfigurationFile(text: string, file: string, kind: string): ConfigurationFile {
  const parsed = parseYaml(text);
  if ('mistakes' in parsed) return { ok: false, mistakes: parsed.mistakes.map((mistake) => `${file}: ${mistake}`) };
  if (!isContent(parsed.value)) return { ok: false, mistakes: [`${file}: expected a mapping of settings`] };
  const { apiVersion, kind: foundKind, ...content } = parsed.value;
  const mistakes = [
    ...expectHeader(file, 'apiVersion', { found: apiVersion, expected: CONFIGURATION_API_VERSION }),
    ...expectHeader(file, 'kind', { found: foundKind, expected: kind }),
  ];
  return mistakes.length > 0 ? { ok: false, mistakes } : { ok: true, content };
}

/** Doubled keys are refused, and aliases may not unfold into a bomb. */
function parseYaml(text: string): { readonly value: unknown } | { readonly mistakes: readonly string[] } {
  const { parseDocument } = require('yaml') as typeof Yaml;
  const document = parseDocument(text, { uniqueKeys: true, prettyErrors: true });
  if (document.errors.length > 0) return { mistakes: document.errors.map(({ message }) => firstLine(message)) };
  try {
    return { value: document.toJS({ maxAliasCount: 100 }) };
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

function isContent(value: unknown): value is Content {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
