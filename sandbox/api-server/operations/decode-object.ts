import { badRequest } from '#sandbox/api-server/errors/errors.ts';
import type { StatusError } from '#sandbox/api-server/errors/status-error.ts';
import { DecodeError, decodeValue, pruneValue } from '#sandbox/api-server/schema/decode-value.ts';
import { fieldSchema } from '#sandbox/api-server/ownership/set-of-object.ts';
import type { Schema } from '#sandbox/api-server/schema/schema.ts';
import { isFields, omit, type Fields, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { ParsedBody } from './parse-body.ts';

/** The type to decode an object as, and how strictly. */
export interface DecodeTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: Schema;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  readonly warn: (text: string) => void;
  /** Set for a custom resource, whose types its validation checks. */
  readonly openApi?: unknown;
}

/**
 * Converts a parsed body to a typed object: the right kind, fields of the right types, without unknown fields (reported
 * according to `fieldValidation`). Throws 400.
 */
export function decodeObject({ value, duplicates }: ParsedBody, target: DecodeTarget): KubeObject {
  if (!isFields(value))
    throw badRequest(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${typeOf(value)} into Go value of type struct { APIVersion string; Kind string }`,
    );
  checkKind(value, target);
  const unknown: string[] = [];
  const { kind, apiVersion } = target;
  const rest = omit(value, 'kind', 'apiVersion', 'metadata');
  const object = decodeFields(
    { kind, apiVersion, metadata: namedMetadata(value['metadata']), ...rest },
    unknown,
    target,
  );
  report(
    [...unknown.map((path) => `unknown field "${path}"`), ...duplicates.map((path) => `duplicate field "${path}"`)],
    target,
  );
  return object;
}

/** A name that is still to be generated is an empty text. */
function namedMetadata(metadata: unknown): unknown {
  return isFields(metadata ?? {}) ? { name: '', ...(metadata as Fields | null) } : metadata;
}

function decodeFields(fields: Fields, unknown: string[], target: DecodeTarget): KubeObject {
  const { schema, openApi } = target;
  try {
    if (openApi !== undefined) return decodeCustom(schema, fields, unknown);
    return decodeValue(schema, fields, { unknown }) as KubeObject;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw notHandled(target, error.message);
  }
}

function notHandled({ kind, apiVersion }: DecodeTarget, why: string): StatusError {
  const version = JSON.stringify(apiVersion.slice(apiVersion.indexOf('/') + 1));
  return badRequest(`${kind} in version ${version} cannot be handled as a ${kind}: ${why}`);
}

/** The metadata is Kubernetes' own; the rest is pruned. */
function decodeCustom(schema: Schema, { metadata, ...rest }: Fields, unknown: string[]): KubeObject {
  decodeValue(fieldSchema(schema, 'metadata'), metadata, { unknown });
  pruneValue(schema, rest, { unknown });
  const { kind, apiVersion, ...fields } = rest;
  return { kind, apiVersion, metadata, ...fields } as unknown as KubeObject;
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** A body may omit kind and version; if present, they must match the path. */
function checkKind(value: Fields, { apiVersion, kind }: DecodeTarget): void {
  const { kind: givenKind = kind, apiVersion: givenVersion = apiVersion } = value;
  if (givenKind !== kind) {
    const version = String(givenVersion).split('/').at(-1);
    throw badRequest(
      `${String(givenKind)} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: the path wants a ${kind}`,
    );
  }
  if (givenVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${String(givenVersion)}) does not match the expected API version (${apiVersion})`,
    );
  }
}

const MAX_REPORTED = 100;

function report(mistakes: readonly string[], target: DecodeTarget): void {
  const { fieldValidation, warn } = target;
  if (mistakes.length === 0 || fieldValidation === 'Ignore') return;
  const shown = mistakes.slice(0, MAX_REPORTED);
  if (fieldValidation === 'Strict') throw notHandled(target, `strict decoding error: ${shown.join(', ')}`);
  shown.forEach(warn);
}
