import type { Namespace } from '#shared/domain/snapshot/namespace.ts';
import type { Decoded } from './decoded.ts';
import type { WireObject } from './wire-object.ts';
import { decodeObject, readObject, readText, readTextMap } from './wire-object.ts';

const EMPTY: WireObject = {};

/** Reads the wire form of a `v1` Namespace. */
export function decodeNamespace(raw: unknown): Decoded<Namespace> {
  return decodeObject(raw, (namespace) => readObject(namespace, 'metadata', readMetadata) ?? readMetadata(EMPTY));
}

function readMetadata(metadata: WireObject): Namespace {
  return { name: readText(metadata, 'name') ?? '', labels: readTextMap(metadata, 'labels') };
}
