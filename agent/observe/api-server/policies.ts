import type { Because } from '#shared/domain/base/because.ts';
import { createReflector, type Reflector, type ReflectorOptions } from '#shared/kube/reflector/reflector.ts';
import { NODE_PRESSURE_POLICIES, NODES } from '#shared/kube/resource.ts';
import {
  type NamedPolicy,
  readNamedPolicy,
  type ConfiguredMode,
  keepLastValid,
  type LastValid,
  policyInForce,
} from '#shared/api/node-pressure-policy/select-policy.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { DOUBTS, LOG } from '#agent/messages.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { conditionStatusIn } from '#shared/kube/decode/raw-conditions.ts';
import { decodeObject, isRecord, readAmounts } from '#shared/kube/decode/wire-object.ts';
import { nodeAmount } from '#shared/domain/spare/spare-amounts.ts';
import type { BySpareKind } from '#shared/domain/spare/spare-resources.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';

/** A watch that receives nothing for 90 s is opened again. */
const OLDEST_MS = 120_000;

type PolicyReflectorOptions = Omit<ReflectorOptions<NamedPolicy>, 'resource' | 'slim'> & {
  readonly log: Pick<Log, 'info'>;
};

/** The watched policies of the cluster and the one in force on this node. */
export interface Policies {
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly inForce: () => AgentPolicy;
  /** Whether the policies have been read once; nothing is enforced before that. */
  readonly areRead: () => boolean;
  /**
   * The number of policies, and any problem: the copy is too old, or the first policy that cannot be decoded, with its
   * field.
   */
  readonly seen: () => { readonly count: number; readonly problem: Because | undefined };
}

/** The choice is made again when a policy or the node's labels change, not in every pass. */
export function createPolicies(
  configured: ConfiguredMode,
  ownNode: Pick<Reflector<OwnNode>, 'values' | 'onChange'>,
  options: PolicyReflectorOptions,
): Policies {
  const { log, clock } = options;
  const reflector = createReflector<NamedPolicy>({
    ...options,
    resource: NODE_PRESSURE_POLICIES,
    slim: readNamedPolicy,
  });
  let lastValid: LastValid = new Map();
  let mistake: Because | undefined;
  const faults = faultLog(log, LOG.policyUnreadable);
  let current = choose();
  reflector.onChange(update);
  ownNode.onChange(update);

  function choose(): AgentPolicy {
    const policies = [...reflector.values()];
    lastValid = keepLastValid(lastValid, policies);
    const [node] = ownNode.values();
    return policyInForce({
      configured,
      policies,
      lastValid,
      labels: node?.labels,
      arePoliciesRead: reflector.isSynced(),
    });
  }

  function update(): void {
    const before = current;
    current = choose();
    mistake = firstMistake(reflector.values());
    if (mistake === undefined) faults.worked('policies');
    else faults.failed('policies', { kind: mistake.text, message: mistake.text });
    if (before.name !== current.name || before.mode !== current.mode) {
      log.info({ policy: current.name, mode: current.mode }, LOG.policyChanged);
    }
  }
  void reflector.synced.then(update);
  return {
    run: (signal) => reflector.run(signal),
    inForce: () => current,
    areRead: () => reflector.isSynced(),
    seen: () => ({ count: reflector.size, problem: outdated(reflector.lastContactMs(), clock.monotonic()) ?? mistake }),
  };
}

function outdated(lastContactMs: number | undefined, nowMs: number): Because | undefined {
  if (lastContactMs === undefined || nowMs - lastContactMs <= OLDEST_MS) return undefined;
  const seconds = Math.round((nowMs - lastContactMs) / 1000);
  return DOUBTS.policiesOutdated({ seconds }, { seconds });
}

function firstMistake(policies: Iterable<NamedPolicy>): Because | undefined {
  for (const { name, decoded } of policies) {
    if (decoded.ok) continue;
    const { field, message: cause } = decoded;
    return DOUBTS.policyUnreadable({ policy: name, field, cause }, { policy: name, field });
  }
  return undefined;
}

/**
 * What the agent needs of its Node: labels that select a policy, the UID that owns the NodePressure, its kernel, and
 * the state of the kubelet.
 */
export interface OwnNode {
  readonly uid: string | undefined;
  readonly labels: ReadonlyMap<string, string>;
  /** Of the kernel that its kubelet runs on. */
  readonly bootId: string | undefined;
  /** Such as `v1.36.3`: how the kubelet computes the QoS classes of its pods. */
  readonly kubeletVersion: string | undefined;
  /** Whether the kubelet has stopped posting node status: the condition Ready is Unknown. */
  readonly isKubeletSilent: boolean;
  /** Whether the kubelet reports that it can run pods: the condition Ready is True. */
  readonly isKubeletReady: boolean;
  readonly hasMemoryPressure: boolean;
  /** Bytes and millicores that pods may request; `undefined` if the kubelet has not said so yet. */
  readonly allocatable: BySpareKind<number> | undefined;
}

type NodeOptions = Omit<ReflectorOptions<OwnNode>, 'resource' | 'fieldSelector' | 'slim'>;

/** A watched copy of one Node object. */
export function createOwnNode(nodeName: string, options: NodeOptions): Reflector<OwnNode> {
  return createReflector({
    ...options,
    resource: NODES,
    startsFromCache: true,
    fieldSelector: `metadata.name=${nodeName}`,
    slim: slimNode,
  });
}

/** What the agent keeps of a Node. */
export function slimNode({ metadata, status }: KubeObject): OwnNode {
  const { nodeInfo, allocatable } = isRecord(status) ? status : {};
  const bootId = isRecord(nodeInfo) ? nodeInfo['bootID'] : undefined;
  const ready = conditionStatusIn(status, 'Ready');
  const kubeletVersion = isRecord(nodeInfo) ? nodeInfo['kubeletVersion'] : undefined;
  return {
    uid: metadata.uid,
    kubeletVersion: typeof kubeletVersion === 'string' ? kubeletVersion : undefined,
    labels: new Map(Object.entries(metadata.labels ?? {})),
    bootId: typeof bootId === 'string' && bootId !== '' ? bootId : undefined,
    isKubeletSilent: ready === 'Unknown',
    isKubeletReady: ready === 'True',
    hasMemoryPressure: conditionStatusIn(status, 'MemoryPressure') === 'True',
    allocatable: allocatableOf(allocatable),
  };
}

function allocatableOf(allocatable: unknown): OwnNode['allocatable'] {
  const read = decodeObject({ allocatable }, (status) => readAmounts(status, 'allocatable'));
  const amounts = read.ok ? read.value : undefined;
  const [memory, cpu] = [nodeAmount(amounts, 'memory'), nodeAmount(amounts, 'cpu')];
  return memory === undefined || cpu === undefined ? undefined : { memory, cpu };
}
