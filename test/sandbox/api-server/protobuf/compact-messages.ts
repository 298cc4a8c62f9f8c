/** The property names of a definition, to tell fields that JSON inlines from fields that it has. */
export type PropertiesOf = (definition: string) => readonly string[] | undefined;

/**
 * The messages of `.proto` texts as `sandbox/api-server/protobuf/messages.ndjson` holds them: by field number, the JSON
 * name and the type. An empty name is inlined in JSON; `[]` before a type is a list, `{}` a map with string keys.
 */
export function compactMessages(protos: readonly string[], propertiesOf: PropertiesOf): string[] {
  const messages = protos.flatMap((proto) => messagesOf(proto));
  return messages.map(({ name, fields }) => JSON.stringify(compactMessage(name, fields, propertiesOf))).sort();
}

interface Message {
  readonly name: string;
  readonly fields: readonly Field[];
}

interface Field {
  readonly number: string;
  readonly name: string;
  readonly prefix: '' | '[]' | '{}';
  readonly type: string;
}

function messagesOf(proto: string): Message[] {
  const package_ = definitionName(/^package ([\w.]+);/m.exec(proto)?.[1] ?? '');
  const bodies = proto.matchAll(/^message (\w+) \{\n(.*?)^\}/gms);
  return Array.from(bodies, ([, name = '', body = '']) => ({
    name: `${package_}.${name}`,
    fields: fieldsOf(body, package_),
  }));
}

/** `k8s.io.api.core.v1` is `io.k8s.api.core.v1` in OpenAPI. */
function definitionName(name: string): string {
  return name.replace(/^k8s\.io\./, 'io.k8s.').replace('apiextensions_apiserver', 'apiextensions-apiserver');
}

const FIELD = /^ {2}(optional|repeated|map<string, ([\w.]+)>) ?([\w.]+)? (\w+) = (\d+);/gm;

function fieldsOf(body: string, package_: string): Field[] {
  return Array.from(body.matchAll(FIELD), ([, label = '', mapType, type = '', name = '', number = '']) => ({
    number,
    name,
    prefix: mapType === undefined ? (label === 'repeated' ? '[]' : '') : '{}',
    type: typeName(mapType ?? type, package_),
  }));
}

const SCALARS = new Set(['string', 'bytes', 'bool', 'int32', 'int64', 'double']);

function typeName(type: string, package_: string): string {
  if (SCALARS.has(type)) return type;
  return type.startsWith('.') ? definitionName(type.slice(1)) : `${package_}.${type}`;
}

function compactMessage(name: string, fields: readonly Field[], propertiesOf: PropertiesOf): object {
  const properties = propertiesOf(name);
  const isInlined = (field: Field): boolean =>
    properties !== undefined && !properties.includes(field.name) && field.prefix === '' && !SCALARS.has(field.type);
  const jsonName = ({ name: own }: Field): string => {
    const lowered = own.charAt(0).toLowerCase() + own.slice(1);
    return properties?.includes(lowered) === true ? lowered : own;
  };
  const entries = fields.map((field): [string, string] => [
    field.number,
    `${isInlined(field) ? '' : jsonName(field)} ${field.prefix}${field.type}`,
  ]);
  return { name, ...Object.fromEntries(entries) };
}
