import { parseAllDocuments, type Document } from 'yaml';
import { InputError } from '#cli/input-error.ts';
import { isRecord } from '#shared/kube/kube-object.ts';
import type { Manifest } from './manifest.ts';
import type { TextFile } from './read-files.ts';

const MOST_ALIASES = 100;
const LIST = 'List';

/**
 * The objects in a file of YAML or JSON documents, lists taken apart. Throws an InputError that names file and document
 * for what is no manifest; doubled keys are refused, and aliases may not unfold into a bomb.
 */
export function parseManifests({ name, text }: TextFile): readonly Manifest[] {
  return parseDocuments(name, text).flatMap((document, index) => {
    const where = `${name}: document ${index + 1}`;
    const content = readDocument(document, where);
    return content === null || content === undefined ? [] : takeApart(content, where);
  });
}

function parseDocuments(name: string, text: string): readonly Document[] {
  try {
    const documents = parseAllDocuments(text, { uniqueKeys: true, merge: true, logLevel: 'error' });
    return Array.isArray(documents) ? documents : [];
  } catch (error) {
    throw tooDeep(name, error);
  }
}

function readDocument(document: Document, where: string): unknown {
  const [mistake] = document.errors;
  if (mistake !== undefined) throw new InputError(`${where}: ${firstLine(mistake.message)}`, { cause: mistake });
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    if (error instanceof ReferenceError)
      throw new InputError(`${where}: ${firstLine(error.message)}`, { cause: error });
    throw tooDeep(where, error);
  }
}

/** The parser calls itself for each level; anything else that it throws is a bug. */
function tooDeep(where: string, error: unknown): unknown {
  return error instanceof RangeError ? new InputError(`${where}: nested too deeply`, { cause: error }) : error;
}

/** The items of a typed list (`PodList`) need not say what they are. */
function takeApart(content: unknown, where: string): readonly Manifest[] {
  const manifest = asManifest(content, where);
  const { apiVersion, kind, raw } = manifest;
  if (!kind.endsWith(LIST)) return [manifest];
  const { items } = raw;
  if (!Array.isArray(items)) throw new InputError(`${where}: items: expected a list`);
  const implied = kind === LIST ? {} : { apiVersion, kind: kind.slice(0, -LIST.length) };
  return items.map((item: unknown, index) => asManifest(item, `${where}, item ${index + 1}`, implied));
}

function asManifest(content: unknown, where: string, implied: Partial<Manifest> = {}): Manifest {
  if (!isRecord(content)) throw new InputError(`${where}: expected an object`);
  const { apiVersion = implied.apiVersion, kind = implied.kind } = content;
  if (!isName(apiVersion)) throw new InputError(`${where}: apiVersion: expected a text`);
  if (!isName(kind)) throw new InputError(`${where}: kind: expected a text`);
  return { apiVersion, kind, raw: { ...content, apiVersion, kind }, where };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.replace(/:$/, '') ?? '';
}
