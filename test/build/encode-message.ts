import { fieldsOf, type Field } from '#sandbox/api-server/protobuf/decode-message.ts';

const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
const TIME = 'io.k8s.apimachinery.pkg.apis.meta.v1.Time';
const FIELDS_V1 = 'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1';
const VARINT = 0;
const BYTES = 2;

type Json = Readonly<Record<string, unknown>>;

/** An object in its envelope, as kube-apiserver sends it. Throws for kinds of which the sandbox knows no message. */
export function encodeEnvelope(apiVersion: string, kind: string, message: Buffer): Buffer {
  const typeMeta = Buffer.concat([bytesField(1, Buffer.from(apiVersion)), bytesField(2, Buffer.from(kind))]);
  return Buffer.concat([Buffer.from('k8s\0'), bytesField(1, typeMeta), bytesField(2, message)]);
}

/** A frame of a watch; `object` is an envelope. */
export function encodeFrame(type: string, object: Buffer): Buffer {
  const event = Buffer.concat([bytesField(1, Buffer.from(type)), bytesField(2, bytesField(1, object))]);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(event.length);
  return Buffer.concat([head, event]);
}

/** The message of an OpenAPI definition, of its JSON form; of times whole seconds. Throws where there is no such message. */
export function encodeMessage(definition: string, object: Json): Buffer {
  const fields = fieldsOf(definition);
  if (fields === undefined) throw new Error(`there is no message ${definition}`);
  const parts = Array.from(fields, ([number, field]) =>
    encodeField(number, field, field.name === '' ? object : object[field.name]),
  );
  return Buffer.concat(parts.flat());
}

/** A field of text, bytes or a message. */
export function bytesField(number: number, content: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + BYTES), varint(content.length), content]);
}

function encodeField(number: number, { type, isList, isMap }: Field, value: unknown): readonly Buffer[] {
  if (value === undefined || value === null) return [];
  if (isList) return (value as readonly unknown[]).map((item) => encodeValue(number, type, item));
  if (!isMap) return [encodeValue(number, type, value)];
  return Object.entries(value).map(([key, item]) =>
    bytesField(number, Buffer.concat([bytesField(1, Buffer.from(key)), encodeValue(2, type, item)])),
  );
}

function encodeValue(number: number, type: string, value: unknown): Buffer {
  if (typeof value === 'number' || typeof value === 'boolean')
    return Buffer.concat([varint(number * 8 + VARINT), varint(BigInt.asUintN(64, BigInt(value)))]);
  if (type === FIELDS_V1) return bytesField(number, bytesField(1, Buffer.from(JSON.stringify(value))));
  if (type === TIME) return bytesField(number, timeMessage(String(value)));
  if (typeof value !== 'string') return bytesField(number, encodeMessage(type, value as Json));
  if (type === 'string') return bytesField(number, Buffer.from(value));
  return type === QUANTITY ? bytesField(number, bytesField(1, Buffer.from(value))) : Buffer.alloc(0);
}

function timeMessage(text: string): Buffer {
  return Buffer.concat([varint(8 + VARINT), varint(Math.floor(Date.parse(text) / 1000))]);
}

function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(value);
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}
