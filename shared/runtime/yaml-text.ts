import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseAllDocuments,
  type ScalarTag,
  visit,
  type YAMLMap,
} from 'yaml';
import { firstLine } from './describe-error.ts';
import { indentInside } from './yaml-indent.ts';
import { misplacedTab } from './yaml-tabs.ts';

const TAGS = 'tag:yaml.org,2002:';
const INTEGER = /^[-+]?(?:0[xX]_*[\dA-Fa-f][\dA-Fa-f_]*|0[bB]_*[01][01_]*|0[oO]_*[0-7][0-7_]*|0[0-7_]*|[1-9][\d_]*)$/;
const FLOAT =
  /^(?:\.\d+|[-+]_*\.[\d_]*\d[\d_]*|(?:\d|[-+]_*\d)[\d_]*(?:\.[\d_]*)?)(?:(?<=[\d._])[eE]_*[-+]?_*\d[\d_]*)?$/;

/**
 * Scalars as kubectl and the API server read them: YAML 1.1 by the rules of Go's yaml package, so that 01750 is 1000,
 * 1_000 is a number and `no` is a boolean. A time stays a text.
 */
const SCALARS: readonly ScalarTag[] = [
  plain('null', /^(?:~|null|Null|NULL)?$/, () => null),
  plain('bool', /^(?:y|Y|yes|Yes|YES|on|On|ON|true|True|TRUE)$/, () => true),
  plain('bool', /^(?:n|N|no|No|NO|off|Off|OFF|false|False|FALSE)$/, () => false),
  plain('int', INTEGER, integerOf),
  plain('float', FLOAT, floatOf),
  plain('float', /^(?:\.nan|\.NaN|\.NAN|[-+]?\.(?:inf|Inf|INF))$/, (text, onError) => {
    onError(`${text} is not a number in JSON`);
    return text;
  }),
  { tag: `${TAGS}binary`, resolve: (text) => Buffer.from(text, 'base64').toString('utf8') },
];

function plain(name: string, test: RegExp, resolve: ScalarTag['resolve']): ScalarTag {
  return { tag: TAGS + name, default: true, test, resolve };
}

function integerOf(text: string): number {
  const [, sign, digits = ''] = /^([-+]?)(.*)$/.exec(text.replaceAll('_', '')) ?? [];
  const size = Number(/^0\d/.test(digits) ? `0o${digits}` : digits);
  return sign === '-' ? -size : size;
}

/** A number beyond the range of a float stays a text. */
function floatOf(text: string): number | string {
  const value = Number(text.replaceAll('_', ''));
  return Number.isFinite(value) ? value : text;
}

/** Settings of the parser for text that kubectl would read as well. */
const KUBERNETES_YAML = {
  schema: 'failsafe',
  customTags: (tags: readonly unknown[]) => [...SCALARS, ...tags] as ScalarTag[],
  merge: true,
  // Sets and ordered mappings would become objects that JSON does not have.
  resolveKnownTags: false,
  uniqueKeys: false,
  logLevel: 'error',
} as const;

/** The first document of a YAML text, as kubectl reads it. Throws an error of one line if the text is invalid. */
export function parseYaml(text: string, settings: DocumentSettings = {}): unknown {
  const { document, mistake } = readDocument(text, settings);
  if (mistake !== undefined) throw new Error(firstLine(mistake.message));
  return document === undefined ? null : valueOf(document);
}

interface DocumentSettings {
  readonly uniqueKeys?: boolean;
}

/** The first document of a text, if there is any, and the first mistake in it. */
export interface YamlDocument {
  readonly document: Document | undefined;
  readonly mistake: { readonly code: string; readonly message: string } | undefined;
  readonly lineCounter: LineCounter;
}

/** Reads it as it stands, and if that is refused, as kubectl does, which asks for no indentation inside braces and quotes. */
export function readDocument(text: string, settings: DocumentSettings = {}): YamlDocument {
  const read = readAsIs(text, settings);
  if (read.mistake === undefined) return read;
  const indented = indentInside(text);
  const again = indented === text ? read : readAsIs(indented, settings);
  return again.mistake === undefined ? again : read;
}

function readAsIs(text: string, settings: DocumentSettings): YamlDocument {
  const lineCounter = new LineCounter();
  const tab = misplacedTab(text);
  if (tab !== undefined) {
    const message = `Tabs are not allowed as indentation at line ${text.slice(0, tab).split('\n').length}`;
    return { document: undefined, mistake: { code: 'TAB', message }, lineCounter };
  }
  const [document] = parseAllDocuments(text, { ...KUBERNETES_YAML, ...settings, lineCounter });
  return { document, mistake: document?.errors[0], lineCounter };
}

const MAX_ALIASES = 100;

/**
 * The value of a document. Throws if it has too many aliases, one of what contains it, an invalid merge or a key that JSON
 * does not have.
 */
export function valueOf(document: Document): unknown {
  visit(document, {
    Map: (_, map) => {
      settleKeys(document, map);
    },
    Alias: (_, alias, path) => {
      const target = alias.resolve(document);
      if (path.some((each) => each === target)) throw new Error(`anchor ${alias.source} contains itself`);
    },
  });
  return document.toJS({ maxAliasCount: MAX_ALIASES });
}

/** Only texts, numbers and booleans are keys. A merge replaces the keys that precede it, as in Go's yaml package. */
function settleKeys(document: Document, map: YAMLMap): void {
  for (const { key } of map.items) {
    if (!isScalar(key) || key.value === null) throw new Error('a key must be a text, a number or a boolean');
  }
  const merge = map.items.findLastIndex(isMerge);
  if (merge <= 0) return;
  const replaced = mergedKeys(document, map.items[merge]?.value);
  map.items = map.items.filter(({ key }, at) => at >= merge || !replaced.has(nameOf(key)));
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && typeof key.value === 'symbol';
}

function mergedKeys(document: Document, source: unknown): ReadonlySet<string> {
  const node = isAlias(source) ? source.resolve(document) : source;
  if (isSeq(node)) return new Set(node.items.flatMap((each) => [...mergedKeys(document, each)]));
  return new Set(isMap(node) ? node.items.map(({ key }) => nameOf(key)) : []);
}

/** The name of a key in JSON. */
export function nameOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}
