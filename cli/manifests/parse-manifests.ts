import { LineCounter, parseAllDocuments, type Document } from 'yaml';
import { InputError } from '#cli/input-error.ts';
import { ANNOTATION_SNAPSHOT_TIME } from '#shared/kube/api-names.ts';
import { fieldOf, isRecord } from '#shared/kube/kube-object.ts';
import { errorText, firstLine } from '#shared/runtime/describe-error.ts';
import type { Manifest } from './manifest.ts';
import type { TextFile } from './read-files.ts';
import { findDoubledKey, findExcess } from './yaml-limits.ts';

const MOST_ALIASES = 100;
const LIST = 'List';

/**
 * The objects in a file of YAML or JSON documents, lists taken apart. Throws an InputError that names file and document
 * for what is no manifest; doubled keys are refused, and aliases may not unfold into a bomb.
 */
export function parseManifests({ name, text }: TextFile): readonly Manifest[] {
  const excess = findExcess(text);
  if (excess !== undefined) throw new InputError(`${name}: ${excess}`);
  const lines = new LineCounter();
  return parseDocuments(text, lines).flatMap((document, index) => {
    const where = `${name}: document ${index + 1}`;
    const content = readDocument(document, where, lines);
    return content === null || content === undefined ? [] : manifestsIn(content, where);
  });
}

function parseDocuments(text: string, lineCounter: LineCounter): readonly Document[] {
  // Doubled keys are looked for below: the parser's own search takes minutes for a large mapping.
  const options = { uniqueKeys: false, merge: true, logLevel: 'error', lineCounter } as const;
  const documents = parseAllDocuments(text, options);
  return Array.isArray(documents) ? documents : [];
}

function readDocument(document: Document, where: string, lines: LineCounter): unknown {
  const [mistake] = document.errors;
  if (mistake?.code === 'RESOURCE_EXHAUSTION') throw new InputError(`${where}: nested too deeply`);
  if (mistake !== undefined) throw new InputError(`${where}: ${firstLine(mistake.message)}`, { cause: mistake });
  const doubled = findDoubledKey(document);
  if (doubled !== undefined) {
    const { line } = lines.linePos(doubled.offset);
    throw new InputError(`${where}: line ${line}: key "${doubled.key}" stands twice`);
  }
  return unfold(document, where);
}

/** What the library throws here is the document's fault: aliases without anchor or too many, merges of no mapping. */
function unfold(document: Document, where: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    throw new InputError(`${where}: ${firstLine(errorText(error))}`, { cause: error });
  }
}

/**
 * The objects that a document holds, lists taken apart; the items of a typed list (`PodList`) need not say what they
 * are. `where` names the document in messages. Throws an InputError for what is no manifest.
 */
export function manifestsIn(content: unknown, where: string): readonly Manifest[] {
  const manifest = asManifest(content, where);
  const { apiVersion, kind, raw } = manifest;
  if (!kind.endsWith(LIST)) return [manifest];
  const { items } = raw;
  if (!Array.isArray(items)) throw new InputError(`${where}: items: expected a list`);
  const implied = { ...timeOf(raw), ...(kind !== LIST && { apiVersion, kind: kind.slice(0, -LIST.length) }) };
  return items.map((item: unknown, index) => asManifest(item, `${where}, item ${index + 1}`, implied));
}

function asManifest(content: unknown, where: string, implied: Partial<Manifest> = {}): Manifest {
  if (!isRecord(content)) throw new InputError(`${where}: expected an object`);
  const { apiVersion = implied.apiVersion, kind = implied.kind } = content;
  if (!isName(apiVersion)) throw new InputError(`${where}: apiVersion: expected a text`);
  if (!isName(kind)) throw new InputError(`${where}: kind: expected a text`);
  return { apiVersion, kind, raw: { ...content, apiVersion, kind }, where, takenAt: implied.takenAt };
}

function timeOf(list: Manifest['raw']): Pick<Manifest, 'takenAt'> {
  const takenAt = fieldOf(fieldOf(fieldOf(list, 'metadata'), 'annotations'), ANNOTATION_SNAPSHOT_TIME);
  return typeof takenAt === 'string' ? { takenAt } : {};
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
