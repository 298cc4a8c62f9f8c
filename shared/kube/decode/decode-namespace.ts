import type { Namespace } from '#shared/domain/snapshot/namespace.ts';
import type { Decoded } from './decoded.ts';
import type { WireObject } from './wire-object.ts';
import { decodeObject, readPart, readText, readTextMap } from './wire-object.ts';

/** Reads the wire form of a `v1` Namespace. */
export function decodeNamespace(raw: unknown): Decoded<Namespace> {
  return decodeObject(raw, (namespace) => readPart(namespace, 'metadata', readMetadata));
}

function readMetadata(metadata: WireObject): Namespace {
  return { name: readText(metadata, 'name') ?? '', labels: readTextMap(metadata, 'labels') };
}
