import type { Instant } from '#shared/domain/pod/pod.ts';
import {
  type ConditionStatus,
  type ControlledNode,
  FAMILIES,
  type Family,
  type PressureReport,
} from '#shared/domain/nodes/plan-node-changes.ts';
import type { SpareNode } from '#shared/domain/nodes/plan-spare.ts';
import type { Amounts } from '#shared/domain/quantity/quantity.ts';
import { nodeAmount, spareAmount } from '#shared/domain/spare/spare-amounts.ts';
import { SPARE_KINDS } from '#shared/domain/spare/spare-resources.ts';
import { opennessOf } from '#shared/decide/queues/open-node.ts';
import { decodeNode } from '#shared/kube/decode/decode-objects.ts';
import { NAMESPACE_NODE, PRESSURE_CONDITIONS, PRESSURE_TAINTS } from '#shared/kube/api-names.ts';
import { SCHEDULED_POD } from '#shared/kube/protobuf/kube-messages.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { conditionStatusIn } from '#shared/kube/decode/raw-conditions.ts';
import {
  decodeObject,
  fieldOf,
  readAmounts,
  readInstant,
  readList,
  readObject,
  readText,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import type { SpareEntry } from '#shared/api/spare-status.ts';
import { decodeNodePressure, isFresh, type NodePressure, type NodePressureStatus } from '#shared/api/node-pressure.ts';
import {
  type NamedPolicy,
  nodeSettingsIn,
  policySelector,
  readNamedPolicy,
} from '#shared/api/node-pressure-policy/select-policy.ts';
import { DEFAULT_NODE_SETTINGS, type NodeSettings } from '#shared/domain/nodes/node-settings.ts';
import type { SharedContext } from '#shared/kube/reflector/shared-streams.ts';
import { createReflector, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { NODE_PRESSURE_POLICIES, NODE_PRESSURES, NODES, PODS, type Resource } from '#shared/kube/resource.ts';

/** A node as the node controller reads and writes it. */
export interface KnownNode extends ControlledNode {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: ReadonlyMap<string, string>;
  /** All taints as stored: a write replaces the whole list. */
  readonly allTaints: readonly WireObject[];
  readonly spare: SpareNode;
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

/** Reads a raw Node. Throws if it cannot be decoded; such a node is not written. */
export function readKnownNode(raw: KubeObject): KnownNode {
  const decoded = decodeObject(raw, (node) => {
    const allTaints = readObject(node, 'spec', (spec) => readList(spec, 'taints', (taint) => taint)) ?? [];
    return {
      name: raw.metadata.name ?? '',
      uid: raw.metadata.uid ?? '',
      resourceVersion: raw.metadata.resourceVersion ?? '',
      labels: new Map(Object.entries(raw.metadata.labels ?? {})),
      allTaints,
      taints: ownTaints(allTaints),
      conditions: readObject(node, 'status', ownConditions) ?? new Map<Family, ConditionStatus>(),
      spare: spareNode(
        raw,
        readObject(node, 'status', (status) => readAmounts(status, 'capacity')),
      ),
    };
  });
  if (decoded.ok) return decoded.value;
  throw new Error(`cannot read Node "${raw.metadata.name ?? ''}": ${decoded.field}: ${decoded.message}`);
}

/** A node that cannot be read as kube-scheduler reads it takes no pods. */
function spareNode(raw: KubeObject, capacity: Amounts | undefined): SpareNode {
  const node = decodeNode(raw);
  const offered = SPARE_KINDS.map((kind) => [kind, spareAmount(capacity, kind)] as const);
  return {
    name: raw.metadata.name ?? '',
    isOpen: node.ok && opennessOf(node.value) !== 'Closed',
    offered: Object.fromEntries(offered.filter(([, amount]) => amount !== undefined)),
    capacity: { memory: nodeAmount(capacity, 'memory') ?? 0, cpu: nodeAmount(capacity, 'cpu') ?? 0 },
  };
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

/** A NodePressure reduced to the fields that the node controller reads; the rest is most of its size. */
function readKnownPressure(raw: KubeObject): NodePressure {
  const { status, ...pressure } = decodeNodePressure(raw);
  return { ...pressure, status: status && slim(status) };
}

const NO_REASON = { code: '', text: '', facts: {} };

function slim(status: NodePressureStatus): NodePressureStatus {
  const { conditions, evictions, spare } = status;
  return {
    ...status,
    next: [],
    spare: spare && { ...spare, digest: '', memory: slimSpare(spare.memory), cpu: slimSpare(spare.cpu) },
    rules: undefined,
    conditions: conditions.map((condition) => ({ ...condition, reason: '', message: '' })),
    evictions: evictions.map((eviction) => ({ ...eviction, because: NO_REASON })),
  };
}

function slimSpare(entry: SpareEntry): SpareEntry {
  return { ...entry, because: NO_REASON };
}

/** The report of one agent, as far as taints and conditions depend on it. */
export function reportOf({ name, status }: NodePressure, now: Instant): PressureReport {
  return {
    name,
    mode: status?.mode ?? 'DryRun',
    observedAt: status?.observedAt,
    isFresh: isFresh(status, now),
    conditions: new Map(
      status?.conditions.map((each) => [each.type, { status: each.status, since: each.lastTransitionTime }]),
    ),
  };
}

/** A pod in the namespace of the agents. */
export interface AgentPod {
  readonly node: string | undefined;
  /** As the kubelet says, which probes it. */
  readonly isReady: boolean;
}

function readAgentPod(raw: KubeObject): AgentPod {
  const node = fieldOf(fieldOf(raw, 'spec'), 'nodeName');
  const isReady = conditionStatusIn(raw['status'], 'Ready') === 'True';
  return { node: typeof node === 'string' ? node : undefined, isReady };
}

/** The inputs of the leader's decisions. */
export interface NodeCaches {
  readonly agents: Reflector<AgentPod>;
  readonly nodes: Reflector<KnownNode>;
  readonly pressures: Reflector<NodePressure>;
  readonly policies: Reflector<NamedPolicy>;
}

/** Copies that fill once their streams run. Every replica keeps them, so that the next leader begins at once. */
export function createNodeCaches(options: SharedContext): NodeCaches {
  const reflect = <T>(resource: Resource, slim: (raw: KubeObject) => T | undefined): Reflector<T> =>
    createReflector({ ...options, resource, slim });
  const ofAgents = { resource: PODS, namespace: NAMESPACE_NODE, message: SCHEDULED_POD };
  return {
    agents: createReflector({ ...options, ...ofAgents, slim: readAgentPod }),
    nodes: reflect(NODES, readKnownNode),
    pressures: reflect(NODE_PRESSURES, readKnownPressure),
    policies: reflect(NODE_PRESSURE_POLICIES, readNamedPolicy),
  };
}

/** The settings of each node by name, as its policy says now. */
export function createNodeSettings({
  nodes,
  policies,
}: {
  readonly nodes: Pick<NodeCaches['nodes'], 'get'>;
  readonly policies: Pick<NodeCaches['policies'], 'values' | 'onChange'>;
}): (name: string) => NodeSettings {
  let select: ReturnType<typeof policySelector> | undefined;
  policies.onChange(() => void (select = undefined));
  return (name) => {
    const labels = nodes.get(name)?.labels;
    if (labels === undefined) return DEFAULT_NODE_SETTINGS;
    select ??= policySelector([...policies.values()]);
    return nodeSettingsIn(select(labels));
  };
}
