import type { Buffer } from 'node:buffer';
import type { Fields } from '#sandbox/api-server/wire/object.ts';
import { decodeMessage, isKnownMessage } from './decode-message.ts';
import { readFields } from './read-fields.ts';

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
