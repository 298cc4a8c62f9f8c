import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { badRequest } from '#sandbox/api-server/errors/errors.ts';

/** How a kind reads the fields that a field selector may name. */
export type FieldReaders = Readonly<Record<string, (object: KubeObject) => string>>;

/** A prepared field selector. */
export interface FieldQuery {
  readonly matches: (object: KubeObject) => boolean;
  /** The value that `metadata.name` must have, if the query requires one. */
  readonly name: string | undefined;
}

interface Term {
  readonly field: string;
  readonly isEqual: boolean;
  readonly value: string;
}

const COMMON: FieldReaders = {
  'metadata.name': (object) => object.metadata.name,
  'metadata.namespace': (object) => object.metadata.namespace ?? '',
};

/** Reads a `fieldSelector` parameter: `a=b,c!=d`. Empty matches all. Throws 400, also for a field the kind does not offer. */
export function parseFieldQuery(text: string, readers: FieldReaders): FieldQuery {
  if (text === '') return { matches: () => true, name: undefined };
  const terms = text
    .split(',')
    .filter((term) => term.trim() !== '')
    .map(parseTerm);
  const tests = terms.map((term) => termTest(term, readers));
  const name = terms.find(({ field, isEqual }) => field === 'metadata.name' && isEqual)?.value;
  return { matches: (object) => tests.every((test) => test(object)), name };
}

const TERM = /^([^=!]+)(==|=|!=)(.*)$/s;

function parseTerm(text: string): Term {
  const match = TERM.exec(text.trim());
  if (match === null)
    throw badRequest(`invalid selector: '${text.slice(0, 100)}'; can't understand '${text.slice(0, 100)}'`);
  const [, field = '', operator = '', value = ''] = match;
  return { field: field.trim(), isEqual: operator !== '!=', value: value.replaceAll(/\\([\\,=])/g, '$1') };
}

function termTest({ field, isEqual, value }: Term, readers: FieldReaders): (object: KubeObject) => boolean {
  const own = Object.hasOwn(readers, field) ? readers[field] : undefined;
  const read = own ?? (Object.hasOwn(COMMON, field) ? COMMON[field] : undefined);
  if (read === undefined) throw badRequest(unknownField(field, readers));
  return (object) => (read(object) === value) === isEqual;
}

function unknownField(field: string, readers: FieldReaders): string {
  if (Object.keys(readers).length > 0) return `field label not supported: ${field}`;
  return `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}
