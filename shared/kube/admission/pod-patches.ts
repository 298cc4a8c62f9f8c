import type { PodChange } from '#shared/domain/admission/decision.ts';
import { ANNOTATION_CLASS_RULE, ANNOTATION_REQUESTED } from '#shared/kube/api-names.ts';
import { quantityValue } from '#shared/domain/quantity/quantity.ts';
import { SPARE_KINDS } from '#shared/domain/spare/spare-resources.ts';
import { type SpareAmounts, spareEntries, type SpareMove } from '#shared/domain/spare/spare-room.ts';
import { fieldOf, isRecord } from '#shared/kube/decode/wire-object.ts';

/** One operation of a JSON patch (RFC 6902), limited to what we write. */
export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

/**
 * The operations that set these fields on a raw pod; none if it has them already. The in-tree Priority plugin runs
 * again after us and rejects a pod whose three fields do not agree. An empty class name is left out.
 */
export function priorityPatch(pod: unknown, fields: PodChange): readonly PatchOperation[] {
  const spec = isRecord(pod) && isRecord(pod['spec']) ? pod['spec'] : {};
  return [
    ...setField(spec, 'priorityClassName', fields.priorityClassName === '' ? undefined : fields.priorityClassName),
    ...setField(spec, 'priority', fields.priority),
    ...setField(spec, 'preemptionPolicy', fields.preemptionPolicy),
    ...annotationPatch(pod, {
      ...(fields.classRule !== undefined && { [ANNOTATION_CLASS_RULE]: fields.classRule }),
      ...(fields.spare && { [ANNOTATION_REQUESTED]: fields.spare.requested }),
    }),
    ...(fields.spare === undefined ? [] : sparePatch(spec, fields.spare)),
    ...(fields.schedulerName === undefined ? [] : setField(spec, 'schedulerName', fields.schedulerName)),
    ...(fields.avoidNodes === undefined ? [] : affinityPatch(spec, fields.avoidNodes)),
  ];
}

/** The path of an annotation. */
export function annotationPath(name: string): string {
  return `/metadata/annotations/${asPointer(name)}`;
}

/** A key as a step of a JSON pointer, in which `~1` is a slash. */
export function asPointer(key: string): string {
  return key.replaceAll('/', '~1');
}

/** The path of the recorded rule. */
export const RECORD_PATH = annotationPath(ANNOTATION_CLASS_RULE);

/** Sets annotations; an empty text removes one. */
function annotationPatch(pod: unknown, wanted: Readonly<Record<string, string>>): readonly PatchOperation[] {
  const present = fieldOf(fieldOf(pod, 'metadata'), 'annotations');
  if (!isRecord(present)) {
    const value = Object.fromEntries(Object.entries(wanted).filter(([, text]) => text !== ''));
    return Object.keys(value).length === 0 ? [] : [{ op: 'add', path: '/metadata/annotations', value }];
  }
  return Object.entries(wanted).flatMap(([name, value]): readonly PatchOperation[] => {
    if (value === '') return Object.hasOwn(present, name) ? [{ op: 'remove', path: annotationPath(name) }] : [];
    return present[name] === value ? [] : [{ op: 'add', path: annotationPath(name), value }];
  });
}

/** Moves requests to spare room: the same operations as in the API server (spare-expressions.ts). */
function sparePatch(spec: Fields, { containers, initContainers, ofPod }: SpareMove): readonly PatchOperation[] {
  return [
    ...ofPod.map((kind) => ({ op: 'add', path: `/spec/resources/requests/${kind}`, value: '0' }) as const),
    ...moveContainers(spec, 'containers', containers),
    ...moveContainers(spec, 'initContainers', initContainers),
  ];
}

function moveContainers(spec: Fields, list: string, moves: readonly SpareAmounts[]): readonly PatchOperation[] {
  return moves.map((amounts, index) => {
    const before = fieldOf(listAt(spec, list)[index], 'resources');
    return { op: 'add', path: `/spec/${list}/${index}/resources`, value: movedResources(before, amounts) };
  });
}

function movedResources(before: unknown, amounts: SpareAmounts): Fields {
  const spare = spareEntries(amounts).map(([name, amount]) => [name, String(quantityValue(amount))] as const);
  const zeros = SPARE_KINDS.map((kind) => [kind, '0'] as const);
  return {
    ...(isRecord(before) && before),
    requests: { ...recordAt(before, 'requests'), ...Object.fromEntries([...zeros, ...spare]) },
    ...(spare.length > 0 && { limits: { ...recordAt(before, 'limits'), ...Object.fromEntries(spare) } }),
  };
}

function setField(spec: Readonly<Record<string, unknown>>, key: string, value: unknown): readonly PatchOperation[] {
  const path = `/spec/${key}`;
  const isPresent = Object.hasOwn(spec, key);
  if (value === undefined) return isPresent && spec[key] !== '' ? [{ op: 'remove', path }] : [];
  if (isPresent && spec[key] === value) return [];
  return [{ op: isPresent ? 'replace' : 'add', path, value }];
}

type Fields = Readonly<Record<string, unknown>>;

const NO_FIELDS: Fields = {};
/** Avoid lists hold node names; the label kubernetes.io/hostname of a node may differ from its name. */
const NODE_NAME = 'metadata.name';
/** The maximum weight of a preference. */
const WEIGHT = 100;
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/**
 * The operations that make a raw pod prefer nodes other than the named ones; none if it does already. The pod's own
 * affinity is kept.
 */
export function affinityPatch(spec: Fields, nodes: readonly string[]): readonly PatchOperation[] {
  const affinity = recordAt(spec, 'affinity');
  const before = recordAt(affinity, 'nodeAffinity');
  const after = prefer(before, nodes);
  if (after === before) return [];
  const path = '/spec/affinity';
  const op = Object.hasOwn(spec, 'affinity') ? 'replace' : 'add';
  return [{ op, path, value: { ...affinity, nodeAffinity: after } }];
}

function recordAt(fields: unknown, key: string): Fields {
  const value = fieldOf(fields, key);
  return isRecord(value) ? value : NO_FIELDS;
}

function listAt(fields: Fields, key: string): readonly unknown[] {
  const value = fields[key];
  return Array.isArray(value) ? value : [];
}

/** The API server accepts exactly one value per requirement on a field (ValidateNodeFieldSelectorRequirement). */
function isNot(node: string): Fields {
  return { key: NODE_NAME, operator: 'NotIn', values: [node] };
}

function prefer(affinity: Fields, nodes: readonly string[]): Fields {
  const term = { weight: WEIGHT, preference: { matchFields: nodes.map(isNot) } };
  const terms = listAt(affinity, PREFERRED);
  return includes(terms, term) ? affinity : { ...affinity, [PREFERRED]: [...terms, term] };
}

function includes(list: readonly unknown[], value: unknown): boolean {
  const text = JSON.stringify(value);
  return list.some((each) => JSON.stringify(each) === text);
}
