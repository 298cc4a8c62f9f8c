import type { PriorityClass } from '#shared/domain/priority/priority-class.ts';
import { PREEMPT_LOWER_PRIORITY } from '#shared/domain/priority/priority-class.ts';
import type { Decoded } from './decoded.ts';
import type { WireObject } from './wire-object.ts';
import {
  decodeObject,
  readBoolean,
  readInt32,
  readObject,
  readPart,
  readPointerText,
  readText,
  readTextMap,
} from './wire-object.ts';
import type { AnnotatedClass } from '#shared/kube/annotations/annotated-class.ts';

/** As `decodePriorityClass`, with the annotations. */
export function decodeAnnotatedClass(raw: unknown): Decoded<AnnotatedClass> {
  const decoded = decodePriorityClass(raw);
  if (!decoded.ok) return decoded;
  return decodeObject(raw, (object) => ({
    ...decoded.value,
    annotations: readObject(object, 'metadata', (metadata) => readTextMap(metadata, 'annotations')) ?? new Map(),
  }));
}

/** Reads the wire form of a `scheduling.k8s.io/v1` PriorityClass; an absent policy is the API's default (oddity C4). */
export function decodePriorityClass(raw: unknown): Decoded<PriorityClass> {
  return decodeObject(raw, (object) => ({
    ...readPart(object, 'metadata', readIdentity),
    value: readInt32(object, 'value') ?? 0,
    isGlobalDefault: readBoolean(object, 'globalDefault'),
    preemptionPolicy: readPointerText(object, 'preemptionPolicy') ?? PREEMPT_LOWER_PRIORITY,
  }));
}

function readIdentity(metadata: WireObject) {
  return { name: readText(metadata, 'name') ?? '', uid: readText(metadata, 'uid') ?? '' };
}
