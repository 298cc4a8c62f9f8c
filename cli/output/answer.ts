import { API_VERSION } from '#shared/kube/api-names.ts';
import { type Compiled, compileTemplate } from './json-path.ts';
import { compileColumns } from './custom-columns.ts';
import { columnsOf, type OutputFormat, templateOf } from './output-option.ts';

/** What programs read; docs/contributing/decisions/code.md says why it has a version and a kind. */
export interface Document {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Name and namespace of the object's subject, in the fields that users of kubectl expect. */
export interface Metadata {
  readonly namespace?: string;
  readonly name: string;
}

/** The answer of a command, in each format of `-o`. */
export interface CommandAnswer {
  /** For json, yaml and jsonpath. */
  readonly document: Document;
  readonly table: (isWide: boolean) => string;
  /** For `-o name`: `pod/web`, `deployment.apps/web`. */
  readonly names?: readonly string[];
}

/** A versioned list: `kind` is that of its items. */
export function listDocument<T>(kind: string, items: readonly T[]): Document & { readonly items: readonly T[] } {
  return { apiVersion: API_VERSION, kind: `${kind}List`, items };
}

/** A versioned object. */
export function objectDocument<T extends object>(kind: string, fields: T): Document & T {
  return { apiVersion: API_VERSION, kind, ...fields };
}

/** Of `namespace/name`. */
export function metadataOf(pod: string): Metadata {
  const [namespace = '', name = ''] = pod.split('/', 2);
  return { namespace, name };
}

/** The answer as text; `headers` are those of columns that the user named. */
export async function formatAnswer(
  { document, table, names = [] }: CommandAnswer,
  format: OutputFormat,
  headers = true,
): Promise<string> {
  switch (format) {
    case 'table':
    case 'wide':
      return table(format === 'wide');
    case 'name':
      return names.map((name) => `${name}\n`).join('');
    case 'json':
      return `${JSON.stringify(document, undefined, 2)}\n`;
    case 'yaml':
      return formatYaml(document);
    default:
      return formatTemplate(document, format, headers);
  }
}

/** YAML; the library is loaded only if needed, because it takes a tenth of the start-up time. */
export async function formatYaml(document: object): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** The option parser has already refused what cannot be read. */
function formatTemplate(
  document: Document & { readonly items?: readonly unknown[] },
  format: OutputFormat,
  headers: boolean,
): string {
  const columns = columnsOf(format);
  if (columns !== undefined) return printOf(compileColumns(columns))(document.items ?? [document], headers);
  return printOf(compileTemplate(templateOf(format) ?? ''))(document);
}

function printOf<Print>(compiled: Compiled<Print>): Print {
  if (!compiled.ok) throw new TypeError(compiled.message);
  return compiled.print;
}
