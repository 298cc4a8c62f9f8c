import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { type Fields, timeText } from '#sandbox/api-server/wire/object.ts';
import { microTime } from '#shared/kube/kube-object.ts';

/** The media type by which kubectl sends built-in kinds. */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

const MAGIC = 'k8s\0';

/**
 * Reads a body of `runtime.Unknown` after its four magic bytes: version and kind, and the object itself.
 * Undefined for a kind that has no message here. Throws RangeError for other bytes.
 */
export function decodeEnvelope(body: Buffer): Fields | undefined {
  if (body.toString('latin1', 0, MAGIC.length) !== MAGIC)
    throw new RangeError('Cannot read a protobuf message: it does not begin with "k8s"');
  const [typeMeta, raw] = partsOf(body.subarray(MAGIC.length), [1, 2]);
  const [apiVersion = '', kind = ''] =
    typeMeta === undefined ? [] : partsOf(typeMeta, [1, 2]).map((part) => part?.toString() ?? '');
  const definition = definitionOf(apiVersion, kind);
  if (!isKnownMessage(definition)) return undefined;
  return { kind, apiVersion, ...(raw === undefined ? {} : decodeMessage(definition, raw)) };
}

function partsOf(message: Buffer, numbers: readonly number[]): (Buffer | undefined)[] {
  const fields = readFields(message);
  return numbers.map((number) => {
    const value = fields.find((field) => field.number === number)?.value;
    return typeof value === 'bigint' ? undefined : value;
  });
}

/** `io.k8s.api.apps.v1.Deployment` of `apps/v1` and `Deployment`. */
function definitionOf(apiVersion: string, kind: string): string {
  const slash = apiVersion.indexOf('/');
  const version = apiVersion.slice(slash + 1);
  if (kind === 'DeleteOptions') return 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';
  const group = slash < 0 ? 'core' : (apiVersion.slice(0, slash).split('.')[0] ?? '');
  return `io.k8s.api.${group}.${version}.${kind}`;
}

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

/** The fields of a message by number; `undefined` if there is no such message. */
export function fieldsOf(definition: string): ReadonlyMap<number, Field> | undefined {
  return knownMessages().get(definition);
}

/** Whether messages of this OpenAPI definition can be read. */
function isKnownMessage(definition: string): boolean {
  return knownMessages().has(definition);
}

/** A message as the JSON it stands for; unknown fields are passed over. Throws RangeError for other bytes. */
function decodeMessage(definition: string, bytes: Buffer): Fields {
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

/** One field of a protobuf message as it stands on the wire. */
export interface WireField {
  readonly number: number;
  /** A varint or fixed number, or the bytes of text, bytes or a message. */
  readonly value: bigint | Buffer;
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** Splits a message into its fields. Throws RangeError for bytes that are no message. */
function readFields(message: Buffer): WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  while (at < message.length) {
    const tag = readVarint(message, at);
    const field = readValue(message, tag.end, Number(tag.value & 7n));
    fields.push({ number: Number(tag.value >> 3n), value: field.value });
    at = field.end;
  }
  return fields;
}

interface Read<T> {
  readonly value: T;
  /** Where the next thing begins. */
  readonly end: number;
}

function readValue(message: Buffer, at: number, wireType: number): Read<bigint | Buffer> {
  switch (wireType) {
    case VARINT:
      return readVarint(message, at);
    case FIXED64:
      return { value: message.readBigUInt64LE(at), end: at + 8 };
    case BYTES:
      return readBytes(message, at);
    case FIXED32:
      return { value: BigInt(message.readUInt32LE(at)), end: at + 4 };
    default:
      throw new RangeError(`Cannot read a protobuf message: unknown wire type ${wireType}`);
  }
}

function readBytes(message: Buffer, at: number): Read<Buffer> {
  const length = readVarint(message, at);
  const end = length.end + Number(length.value);
  if (end > message.length) throw new RangeError('Cannot read a protobuf message: it ends too early');
  return { value: message.subarray(length.end, end), end };
}

const MAX_VARINT_LENGTH = 10;

function readVarint(message: Buffer, at: number): Read<bigint> {
  let value = 0n;
  for (let n = 0; n < MAX_VARINT_LENGTH; n += 1) {
    const byte = message[at + n];
    if (byte === undefined) break;
    value |= BigInt(byte & 0x7f) << BigInt(7 * n);
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), end: at + n + 1 };
  }
  throw new RangeError('Cannot read a protobuf message: a number does not end');
}
