import { Buffer } from 'node:buffer';
import { errorText } from '#shared/runtime/describe-error.ts';
import { parseYaml as parseText } from '#shared/runtime/yaml-text.ts';
import { badRequest, unsupportedMediaType } from '#sandbox/api-server/errors/errors.ts';
import { decodeEnvelope, PROTOBUF } from '#sandbox/api-server/protobuf/decode-message.ts';
import { scanJson } from '#sandbox/api-server/wire/scan-json.ts';

/** A body as a JSON value, with its duplicate keys. */
export interface ParsedBody {
  readonly value: unknown;
  readonly duplicates: readonly string[];
}

const JSON_TYPES = ['', 'application/json'];
const YAML_TYPES = ['application/yaml', 'application/apply-patch+yaml'];

/** Media types of bodies that hold an object. */
export const OBJECT_MEDIA_TYPES = ['application/json', 'application/yaml', PROTOBUF];

/** Reads a body that holds an object. Throws 415 for another media type, 400 for text that cannot be read. */
export function parseObjectBody(body: Buffer, contentType: string): ParsedBody {
  const mediaType = mediaTypeOf(contentType);
  if (JSON_TYPES.includes(mediaType)) return parseJson(body);
  if (YAML_TYPES.includes(mediaType)) return parseYaml(body);
  if (mediaType === PROTOBUF) return parseProtobuf(body);
  throw unsupportedMediaType(OBJECT_MEDIA_TYPES);
}

/** `application/json` of `application/json; charset=utf-8`. */
export function mediaTypeOf(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Reads JSON. Throws 400. */
export function parseJson(body: Buffer): ParsedBody {
  const text = decodeText(body);
  const { isTooDeep, duplicates } = scanJson(text);
  if (isTooDeep) throw badRequest('the object provided is unrecognized: it is nested too deeply');
  try {
    return { value: JSON.parse(text) as unknown, duplicates };
  } catch {
    throw badRequest(`couldn't get version/kind; json parse error: ${jsonMistake(text)}`);
  }
}

function decodeText(body: Buffer): string {
  try {
    return UTF8.decode(body);
  } catch {
    throw badRequest("couldn't get version/kind; json parse error: the body is not valid UTF-8");
  }
}

/** Node's own message quotes the text; a client gets only the kind of mistake. */
function jsonMistake(text: string): string {
  return text.trim() === '' ? 'unexpected end of JSON input' : 'invalid character or unexpected end of JSON input';
}

/** Reads YAML, which includes JSON. Throws 400, also for documents that expand too much through aliases. */
export function parseYaml(body: Buffer): ParsedBody {
  const text = decodeText(body);
  if (scanJson(text).isTooDeep) throw badRequest('error decoding YAML: it is nested too deeply');
  return parseJson(Buffer.from(JSON.stringify(valueOfYaml(text) ?? null)));
}

function valueOfYaml(text: string): unknown {
  try {
    return parseText(text, { uniqueKeys: true });
  } catch (error) {
    throw badRequest(`error decoding YAML: ${errorText(error)}`);
  }
}

/** Reads Kubernetes' protobuf, which kubectl sends for built-in kinds; answers are always JSON. Throws 400 and 415. */
function parseProtobuf(body: Buffer): ParsedBody {
  try {
    const value = decodeEnvelope(body);
    if (value !== undefined) return { value, duplicates: [] };
  } catch (error) {
    if (error instanceof RangeError || error instanceof SyntaxError) throw badRequest(error.message);
    throw error;
  }
  throw unsupportedMediaType(OBJECT_MEDIA_TYPES);
}
