import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import type { Fields } from '#sandbox/api-server/wire/object.ts';
import { microTime } from '#shared/kube/kube-object.ts';
import { timeText } from '#sandbox/api-server/wire/time.ts';
import { readFields } from './read-fields.ts';

/** Names and types of the fields of each message, one message a line; made by test/sandbox/api-server/protobuf. */
const FILE = new URL('./messages.ndjson', import.meta.url);

/** A field of a message: its name in JSON, and what it holds. */
export interface Field {
  readonly name: string;
  readonly isList: boolean;
  readonly isMap: boolean;
  readonly type: string;
}

let messages: ReadonlyMap<string, ReadonlyMap<number, Field>> | undefined;

/** Read when the first client speaks protobuf. */
function knownMessages(): ReadonlyMap<string, ReadonlyMap<number, Field>> {
  messages ??= new Map(readFileSync(FILE, 'utf8').split('\n').filter(Boolean).map(parseLine));
  return messages;
}

function parseLine(line: string): [string, ReadonlyMap<number, Field>] {
  const { name, ...fields } = JSON.parse(line) as { name: string } & Record<string, string>;
  return [name, new Map(Object.entries(fields).map(([number, text]) => [Number(number), parseField(text)]))];
}

function parseField(text: string): Field {
  const [name = '', spec = ''] = text.split(' ');
  return { name, isList: spec.startsWith('[]'), isMap: spec.startsWith('{}'), type: spec.replace(/^(\[\]|\{\})/, '') };
}

/** The fields of a message by number; `undefined` where there is no such message. */
export function fieldsOf(definition: string): ReadonlyMap<number, Field> | undefined {
  return knownMessages().get(definition);
}

/** Whether messages of this OpenAPI definition can be read. */
export function isKnownMessage(definition: string): boolean {
  return knownMessages().has(definition);
}

/** A message as the JSON it stands for; unknown fields are passed over. Throws RangeError for other bytes. */
export function decodeMessage(definition: string, bytes: Buffer): Fields {
  const known = knownMessages().get(definition);
  const result: Fields = {};
  for (const { number, value } of readFields(bytes)) {
    const field = known?.get(number);
    if (field !== undefined) addField(result, field, value);
  }
  return result;
}

function addField(result: Fields, field: Field, value: bigint | Buffer): void {
  const { name, isList, isMap, type } = field;
  if (isMap) {
    result[name] = { ...(result[name] as Fields | undefined), ...mapEntry(type, value) };
    return;
  }
  const decoded = decodeValue(type, value);
  if (decoded === undefined) return;
  if (isList) result[name] = [...((result[name] as unknown[] | undefined) ?? []), decoded];
  else if (name === '') Object.assign(result, decoded);
  else if (decoded !== '') result[name] = decoded;
}

function mapEntry(type: string, value: bigint | Buffer): Fields {
  const entry = readFields(asBytes(value));
  const key = entry.find(({ number }) => number === 1)?.value;
  const item = entry.find(({ number }) => number === 2)?.value ?? Buffer.alloc(0);
  return { [key === undefined ? '' : asBytes(key).toString()]: decodeValue(type, item) };
}

type Decoder = (value: bigint | Buffer) => unknown;

/** Scalars, and messages that JSON writes in a way of their own. Undefined is nothing at all. */
const DECODERS: Readonly<Record<string, Decoder>> = {
  string: (value) => asBytes(value).toString(),
  bytes: (value) => asBytes(value).toString('base64'),
  bool: (value) => value === 1n,
  int32: asNumber,
  int64: asNumber,
  double: (value) => doubleOf(asInteger(value)),
  'io.k8s.apimachinery.pkg.api.resource.Quantity': (value) => textAt(value, 1),
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': intOrString,
  'io.k8s.apimachinery.pkg.apis.meta.v1.Time': (value) => timeAt(value, timeText),
  'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime': (value) => timeAt(value, microTime),
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1': (value) => JSON.parse(textAt(value, 1)) as unknown,
  'io.k8s.apimachinery.pkg.runtime.RawExtension': (value) => JSON.parse(textAt(value, 1)) as unknown,
};

function decodeValue(type: string, value: bigint | Buffer): unknown {
  const decode = DECODERS[type];
  return decode === undefined ? decodeMessage(type, asBytes(value)) : decode(value);
}

function asBytes(value: bigint | Buffer): Buffer {
  if (typeof value !== 'bigint') return value;
  throw new RangeError('Cannot read a protobuf message: found a number where text or a message belongs');
}

function asInteger(value: bigint | Buffer): bigint {
  if (typeof value === 'bigint') return value;
  throw new RangeError('Cannot read a protobuf message: found bytes where a number belongs');
}

function asNumber(value: bigint | Buffer): number {
  return Number(BigInt.asIntN(64, asInteger(value)));
}

function doubleOf(bits: bigint): number {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(bits);
  return bytes.readDoubleLE();
}

function valueAt(message: bigint | Buffer, number: number): bigint | Buffer | undefined {
  return readFields(asBytes(message)).find((field) => field.number === number)?.value;
}

function textAt(message: bigint | Buffer, number: number): string {
  const value = valueAt(message, number);
  return value === undefined ? '' : asBytes(value).toString();
}

function numberAt(message: bigint | Buffer, number: number): number {
  const value = valueAt(message, number);
  return value === undefined ? 0 : asNumber(value);
}

function intOrString(value: bigint | Buffer): string | number {
  return numberAt(value, 1) === 1 ? textAt(value, 3) : numberAt(value, 2);
}

/** A time without seconds is no time. */
function timeAt(value: bigint | Buffer, spell: (ms: number) => string): string | undefined {
  const seconds = valueAt(value, 1);
  return seconds === undefined ? undefined : spell(asNumber(seconds) * 1000 + numberAt(value, 2) / 1e6);
}
