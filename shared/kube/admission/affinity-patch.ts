import { isRecord } from '#shared/kube/kube-object.ts';
import type { PatchOperation } from './patch-operation.ts';

type Fields = Readonly<Record<string, unknown>>;

const NO_FIELDS: Fields = {};
/** Avoid lists hold names of nodes; the label kubernetes.io/hostname of a node may differ from its name. */
const NODE_NAME = 'metadata.name';
/** The largest weight that a preference may have. */
const WEIGHT = 100;
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/**
 * The operations that make the spec of a raw pod prefer nodes other than those named; none where it does already. All
 * of the pod's own affinity stays.
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

/** The API server takes exactly one value per requirement on a field (ValidateNodeFieldSelectorRequirement). */
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
