import { CST, type Document, isScalar, Lexer, type Range, visit } from 'yaml';
import { InputError } from '#cli/process-io.ts';
import { ANNOTATION_SNAPSHOT_TIME, ANNOTATION_SNAPSHOT_UNREAD } from '#shared/kube/api-names.ts';
import { documentsIn, type TextDocument } from '#shared/kube/decode/text-documents.ts';
import { readDocument, valueOf } from '#shared/runtime/yaml-text.ts';
import { fieldOf, isRecord } from '#shared/kube/decode/wire-object.ts';
import type { Resource } from '#shared/kube/resource.ts';
import { errorText, firstLine } from '#shared/runtime/describe-error.ts';
import type { TextFile } from './read-files.ts';

const LIST = 'List';

/**
 * The objects in a file of YAML or JSON documents as kubectl reads them, with lists expanded. Throws an InputError that
 * names file and document if something is not a manifest; duplicate keys are refused, and the expansion of aliases is
 * limited.
 */
export function parseManifests({ name, text }: TextFile): readonly Manifest[] {
  const excess = findExcess(text);
  if (excess !== undefined) throw new InputError(`${name}: ${excess}`);
  return documentsOf(name, text).flatMap((document, index) => {
    const where = `${name}: document ${index + 1}`;
    const content = contentOf(document, where);
    return content === null || content === undefined ? [] : manifestsIn(content, where);
  });
}

function documentsOf(name: string, text: string): readonly TextDocument[] {
  try {
    return [...documentsIn(text)];
  } catch (error) {
    throw new InputError(`${name}: ${errorText(error)}`, { cause: error });
  }
}

function contentOf({ text, line }: TextDocument, where: string): unknown {
  const { document, mistake, lineCounter } = readDocument(text);
  if (mistake?.code === 'RESOURCE_EXHAUSTION') throw new InputError(`${where}: nested too deeply`);
  if (mistake !== undefined) throw new InputError(`${where}: ${inFile(mistake.message, line)}`);
  if (document === undefined) return undefined;
  const doubled = findDoubledKey(document);
  if (doubled !== undefined) {
    const at = line + lineCounter.linePos(doubled.offset).line;
    throw new InputError(`${where}: line ${at}: key "${doubled.key}" stands twice`);
  }
  return unfold(document, where);
}

/** The message of the parser, with the line of the file instead of that of the document. */
function inFile(message: string, linesBefore: number): string {
  return firstLine(message).replace(/ at line (\d+)/, (_, line) => ` at line ${Number(line) + linesBefore}`);
}

/**
 * Errors of the library here are errors of the document: aliases without an anchor or too many of them, invalid merges.
 */
function unfold(document: Document, where: string): unknown {
  try {
    return valueOf(document);
  } catch (error) {
    throw new InputError(`${where}: ${firstLine(errorText(error))}`, { cause: error });
  }
}

/**
 * The objects in a document, with lists expanded; the items of a typed list (`PodList`) need no kind. `where` names the
 * document in messages. Throws an InputError if something is not a manifest.
 */
export function manifestsIn(content: unknown, where: string): readonly Manifest[] {
  const manifest = asManifest(content, where);
  const { apiVersion, kind, raw } = manifest;
  if (!kind.endsWith(LIST)) return [manifest];
  // Programs in Go write an empty list as null.
  const items = raw['items'] === null ? [] : raw['items'];
  if (!Array.isArray(items)) throw new InputError(`${where}: items: expected a list`);
  const implied = { ...snapshotOf(raw), ...(kind !== LIST && { apiVersion, kind: kind.slice(0, -LIST.length) }) };
  return items.map((item: unknown, index) => asManifest(item, `${where}, item ${index + 1}`, implied));
}

function asManifest(content: unknown, where: string, implied: Partial<Manifest> = {}): Manifest {
  if (!isRecord(content)) throw new InputError(`${where}: expected an object`);
  const { apiVersion = implied.apiVersion, kind = implied.kind } = content;
  if (!isName(apiVersion)) throw new InputError(`${where}: apiVersion: expected a text`);
  if (!isName(kind)) throw new InputError(`${where}: kind: expected a text`);
  return {
    apiVersion,
    kind,
    raw: { ...content, apiVersion, kind },
    where,
    takenAt: implied.takenAt,
    unread: implied.unread,
  };
}

function snapshotOf(list: Manifest['raw']): Pick<Manifest, 'takenAt' | 'unread'> {
  const annotations = fieldOf(fieldOf(list, 'metadata'), 'annotations');
  const [takenAt, unread] = [ANNOTATION_SNAPSHOT_TIME, ANNOTATION_SNAPSHOT_UNREAD].map((name) =>
    fieldOf(annotations, name),
  );
  return {
    ...(typeof takenAt === 'string' && { takenAt }),
    ...(typeof unread === 'string' && unread !== '' && { unread: unread.split(',') }),
  };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

const LIMITS = { tokens: 2_000_000, documents: 10_000, aliases: 1_000, depth: 200 } as const;

/**
 * The first limit that a text exceeds, in words, before it is parsed: a parser needs hundreds of bytes for each token,
 * and too much time for deep nesting and many aliases.
 */
function findExcess(text: string): string | undefined {
  const counts = { tokens: 0, documents: 0, aliases: 0, depth: 0 };
  for (const token of new Lexer().lex(text)) {
    counts.tokens += 1;
    count(CST.tokenType(token), counts);
    for (const name of ['tokens', 'documents', 'aliases', 'depth'] as const)
      if (counts[name] > LIMITS[name]) return describe(name);
  }
  return undefined;
}

function count(type: CST.TokenType | null, counts: Record<keyof typeof LIMITS, number>): void {
  switch (type) {
    case 'doc-start':
      counts.documents += 1;
      return;
    case 'alias':
      counts.aliases += 1;
      return;
    case 'flow-map-start':
    case 'flow-seq-start':
      counts.depth += 1;
      return;
    case 'flow-map-end':
    case 'flow-seq-end':
      counts.depth -= 1;
      return;
    default:
      return;
  }
}

function describe(name: keyof typeof LIMITS): string {
  return name === 'depth' ? `nested deeper than ${LIMITS.depth}` : `more than ${LIMITS[name]} ${name} in one file`;
}

/** A duplicate key in a mapping; the parser's own search compares each key with every other. */
function findDoubledKey(document: Document): { readonly key: string; readonly offset: number } | undefined {
  let found: { readonly key: string; readonly offset: number } | undefined;
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<string>();
      for (const { key } of items) {
        if (!isScalar(key) || typeof key.value === 'symbol') continue;
        const text = String(key.value);
        if (seen.has(text)) found = { key: text, offset: (key.range as Range | undefined)?.[0] ?? 0 };
        if (found !== undefined) return visit.BREAK;
        seen.add(text);
      }
      return undefined;
    },
  });
  return found;
}

/** One object of a file or of the cluster. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Readonly<Record<string, unknown>>;
  /** For messages: `team.yaml: document 2, item 3`. */
  readonly where: string;
  /** When its snapshot was taken, RFC 3339. */
  readonly takenAt?: string | undefined;
  /** Kinds that are missing in its snapshot, because its author was not allowed to list them. */
  readonly unread?: readonly string[] | undefined;
}

const POD = 'v1 Pod';

/** `apiVersion` and `kind` as one text: the key of tables by kind. */
export function typeOf({ apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>): string {
  return `${apiVersion} ${kind}`;
}

/** `metadata.name`, else `metadata.generateName`, else empty. */
export function nameOf({ raw }: Manifest): string {
  return metadataText(raw, 'name') || metadataText(raw, 'generateName');
}

/** `metadata.namespace`, or the given one if the object names none. */
export function namespaceOf({ raw }: Manifest, fallback: string): string {
  return metadataText(raw, 'namespace') || fallback;
}

function metadataText(raw: unknown, field: string): string {
  const value = fieldOf(fieldOf(raw, 'metadata'), field);
  return typeof value === 'string' ? value : '';
}

/** Whether it is a pod, not a workload. */
export function isPod(manifest: Manifest): boolean {
  return typeOf(manifest) === POD;
}

/** The objects of one kind. */
export function ofKind(manifests: readonly Manifest[], { kind }: Pick<Resource, 'kind'>): readonly Manifest[] {
  return manifests.filter((each) => each.kind === kind);
}
