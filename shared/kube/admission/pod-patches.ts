import type { PodChange } from '#shared/domain/admission/decision.ts';
import { ANNOTATION_CLASS_RULE } from '#shared/kube/api-names.ts';
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
    ...(fields.classRule === undefined ? [] : recordPatch(pod, fields.classRule)),
    ...(fields.schedulerName === undefined ? [] : setField(spec, 'schedulerName', fields.schedulerName)),
    ...(fields.avoidNodes === undefined ? [] : affinityPatch(spec, fields.avoidNodes)),
  ];
}

/** The path of the recorded rule; `~1` is a slash in a JSON pointer. */
export const RECORD_PATH = `/metadata/annotations/${ANNOTATION_CLASS_RULE.replace('/', '~1')}`;

function recordPatch(pod: unknown, rule: string): readonly PatchOperation[] {
  const annotations = fieldOf(fieldOf(pod, 'metadata'), 'annotations');
  const present = isRecord(annotations) ? annotations[ANNOTATION_CLASS_RULE] : undefined;
  if (rule === '') return present === undefined ? [] : [{ op: 'remove', path: RECORD_PATH }];
  if (!isRecord(annotations))
    return [{ op: 'add', path: '/metadata/annotations', value: { [ANNOTATION_CLASS_RULE]: rule } }];
  return present === rule ? [] : [{ op: 'add', path: RECORD_PATH, value: rule }];
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

function recordAt(fields: Fields, key: string): Fields {
  const value = fields[key];
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
