import type { Instant } from '#shared/domain/pod/pod.ts';
import {
  type ConditionStatus,
  type ControlledNode,
  FAMILIES,
  type Family,
} from '#shared/domain/node-control/pressure-report.ts';
import { PRESSURE_CONDITIONS, PRESSURE_TAINTS } from '#shared/kube/api-names.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import {
  decodeObject,
  readInstant,
  readList,
  readObject,
  readText,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';

/** A node as the node controller reads and writes it. */
export interface KnownNode extends ControlledNode {
  readonly uid: string;
  readonly resourceVersion: string;
  /** All taints as the API server has them: a write replaces the whole list. */
  readonly allTaints: readonly WireObject[];
}

export const TAINT_KEYS: Readonly<Record<Family, string>> = {
  Memory: PRESSURE_TAINTS.memory,
  Cpu: PRESSURE_TAINTS.cpu,
  Io: PRESSURE_TAINTS.io,
  Disk: PRESSURE_TAINTS.disk,
  Pid: PRESSURE_TAINTS.pid,
};
export const CONDITION_TYPES: Readonly<Record<Family, string>> = {
  Memory: PRESSURE_CONDITIONS.memory,
  Cpu: PRESSURE_CONDITIONS.cpu,
  Io: PRESSURE_CONDITIONS.io,
  Disk: PRESSURE_CONDITIONS.disk,
  Pid: PRESSURE_CONDITIONS.pid,
};

/** Reads a raw Node. Throws for one that cannot be read; nothing is written to it then. */
export function readKnownNode(raw: KubeObject): KnownNode {
  const decoded = decodeObject(raw, (node) => {
    const allTaints = readObject(node, 'spec', (spec) => readList(spec, 'taints', (taint) => taint)) ?? [];
    return {
      name: raw.metadata.name ?? '',
      uid: raw.metadata.uid ?? '',
      resourceVersion: raw.metadata.resourceVersion ?? '',
      allTaints,
      taints: ownTaints(allTaints),
      conditions: readObject(node, 'status', ownConditions) ?? new Map<Family, ConditionStatus>(),
    };
  });
  if (decoded.ok) return decoded.value;
  throw new Error(`cannot read Node "${raw.metadata.name ?? ''}": ${decoded.field}: ${decoded.message}`);
}

function ownTaints(taints: readonly WireObject[]): ReadonlyMap<Family, Instant | undefined> {
  return new Map(
    FAMILIES.flatMap((family) => {
      const taint = taints.find(({ key }) => key === TAINT_KEYS[family]);
      return taint === undefined ? [] : [[family, readInstant(taint, 'timeAdded')] as const];
    }),
  );
}

function ownConditions(status: WireObject): ReadonlyMap<Family, ConditionStatus> {
  const all = readList(status, 'conditions', (condition) => ({
    type: readText(condition, 'type'),
    status: readText(condition, 'status'),
  }));
  return new Map(
    FAMILIES.flatMap((family) => {
      const found = all.find(({ type }) => type === CONDITION_TYPES[family]);
      return found === undefined ? [] : [[family, statusOf(found.status)] as const];
    }),
  );
}

function statusOf(text: string | undefined): ConditionStatus {
  return text === 'True' || text === 'False' ? text : 'Unknown';
}
