import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { code, markdownTable } from './markdown-table.ts';
import { allowedValues, type JsonSchema, schemaFields, type SchemaField } from './schema-fields.ts';

interface Version {
  readonly name: string;
  readonly schema: { readonly openAPIV3Schema: JsonSchema };
}

/** The part of a CustomResourceDefinition that the reference shows. */
export interface Definition {
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string; readonly plural: string; readonly shortNames?: readonly string[] };
    readonly versions: readonly Version[];
  };
}

const FOLDER = 'deploy/crds';
const INTRODUCTION = `# Objects

The kinds of Plimsoll, with the fields that you write, and the first sentence about each. The rest of the text, the status and its conditions are in \`deploy/crds\`, and on a cluster in \`kubectl explain nodepressures.status\`, with \`--recursive\` for all of a kind.

This page is generated from the CustomResourceDefinitions in \`deploy/crds\` (\`npm run generate\`).
`;
const ENVELOPE = ['apiVersion', 'kind', 'metadata'];
/** Written by the processes, as their descriptions say, and read with `kubectl explain`. */
const WRITTEN_BY_PLIMSOLL = ['Disruption', 'DisruptionAccount', 'NodePressure', 'PriorityRules', 'QueueSelectors'];
/** A selector is one field here: Kubernetes describes what is in it. */
const IN_SELECTOR = /[sS]elector(\[\])?\./;
/** Has the fields of the spec itself, or of a DisruptionLimit. */
const IN_OTHER = /\.childTemplate\.|\.defaults\[\]\.limits\[\]\./;
const HEADER = ['field', 'type; values', 'description'];

/** The definitions of the repository; of files that are generated in the same run, their new texts by path. */
export function repositoryDefinitions(texts: ReadonlyMap<string, string> = new Map()): readonly Definition[] {
  const files = readdirSync(FOLDER).filter((name) => name.startsWith('plimsoll.dev_'));
  const textOf = (path: string): string => texts.get(path) ?? readFileSync(path, 'utf8');
  return files.sort().map((name) => parse(textOf(`${FOLDER}/${name}`)) as Definition);
}

/** The reference page of all kinds, in Markdown. */
export function describeObjects(definitions: readonly Definition[]): string {
  return [INTRODUCTION, ...definitions.map(describeKind)].join('\n');
}

function describeKind({ spec }: Definition): string {
  const { kind, plural, shortNames = [] } = spec.names;
  const [version] = spec.versions;
  const schema = version?.schema.openAPIV3Schema ?? {};
  const names = [plural, ...shortNames].map(code).join(', ');
  const line = `\`${spec.group}/${version?.name ?? ''}\`, scope ${spec.scope}, kubectl: ${names}`;
  const parts = [`## ${kind}`, schema.description ?? '', line];
  if (WRITTEN_BY_PLIMSOLL.includes(kind)) return `${parts.join('\n\n')}\n`;
  return [...parts, markdownTable(HEADER, schemaFields(schema).filter(isWritten).map(row))].join('\n\n');
}

/** Whether people write the field, and it is not part of one above. */
function isWritten({ path, schema }: SchemaField): boolean {
  const [first = ''] = path.split('.');
  const isHolder = schema.properties !== undefined && schema.description === undefined;
  const isRepeated = IN_SELECTOR.test(path) || IN_OTHER.test(path);
  return first !== 'status' && path !== 'spec' && !ENVELOPE.includes(first) && !isHolder && !isRepeated;
}

function row({ path, type, isRequired, schema }: SchemaField): readonly string[] {
  const standard = schema.default === undefined ? '' : `default ${code(JSON.stringify(schema.default))}`;
  const values = [isRequired ? 'required' : '', allowedValues(schema), standard].filter((part) => part !== '');
  return [code(path), [type, ...values].join('; '), firstSentence(schema.description ?? '')];
}

function firstSentence(text: string): string {
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text;
}
