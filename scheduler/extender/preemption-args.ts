import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ProposedVictims } from '#shared/domain/preemption/proposal/proposal.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import type { Decoded } from '#shared/kube/decode/decoded.ts';
import {
  decodeObject,
  readCount,
  readList,
  readObject,
  readText,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';

/** What kube-scheduler asks about a preemption. */
export interface PreemptionArgs {
  /** The pod that room is to be made for. */
  readonly pod: Pod;
  readonly proposal: readonly ProposedVictims[];
  /** By node, as they came: what stays is answered as it was asked. Absent where whole pods came. */
  readonly metaVictims?: WireObject | undefined;
}

/** The answer, with the field names of Kubernetes. */
export interface PreemptionResult {
  /** `MetaVictims` by node. */
  readonly NodeNameToMetaVictims: WireObject;
}

/**
 * Reads `ExtenderPreemptionArgs`: victims by their UID where the extender keeps its own copy of the pods
 * (`nodeCacheCapable`), as whole pods otherwise. `k8s.io/kube-scheduler/extender/v1` types.go.
 */
export function decodePreemptionArgs(raw: unknown): Decoded<PreemptionArgs> {
  const proposed = decodeObject(raw, readProposal);
  if (!proposed.ok) return proposed;
  const pod = decodePod((raw as WireObject)['Pod']);
  if (pod.ok) return { ok: true, value: { ...proposed.value, pod: pod.value } };
  return { ...pod, field: pod.field === '' ? 'Pod' : `Pod.${pod.field}` };
}

/** Nodes that are left, each with its victims. Those that were proposed are not written anew: they are most of the answer. */
export function encodePreemptionResult(
  left: readonly ProposedVictims[],
  { proposal, metaVictims }: Pick<PreemptionArgs, 'proposal' | 'metaVictims'>,
): PreemptionResult {
  const asked = new Set(metaVictims === undefined ? [] : proposal);
  const encode = (victims: ProposedVictims): unknown =>
    asked.has(victims) ? metaVictims?.[victims.node] : encodeVictims(victims);
  return { NodeNameToMetaVictims: Object.fromEntries(left.map((victims) => [victims.node, encode(victims)])) };
}

function encodeVictims({ uids, budgetViolations }: ProposedVictims): object {
  return { Pods: uids.map((UID) => ({ UID })), NumPDBViolations: budgetViolations };
}

function readProposal(args: WireObject): Omit<PreemptionArgs, 'pod'> {
  const proposal = readNodes(args, 'NodeNameToMetaVictims', (pod) => readText(pod, 'UID') ?? '');
  if (proposal === undefined) return { proposal: readNodes(args, 'NodeNameToVictims', readUid) ?? [] };
  return { proposal, metaVictims: args['NodeNameToMetaVictims'] as WireObject };
}

function readUid(pod: WireObject): string {
  return readObject(pod, 'metadata', (metadata) => readText(metadata, 'uid')) ?? '';
}

function readNodes(
  args: WireObject,
  key: string,
  uidOf: (pod: WireObject) => string,
): readonly ProposedVictims[] | undefined {
  return readObject(args, key, (nodes) =>
    Object.keys(nodes).flatMap((node) => readObject(nodes, node, (victims) => victimsOf(node, victims, uidOf)) ?? []),
  );
}

function victimsOf(node: string, victims: WireObject, uidOf: (pod: WireObject) => string): ProposedVictims {
  return {
    node,
    uids: readList(victims, 'Pods', uidOf),
    budgetViolations: readCount(victims, 'NumPDBViolations') ?? 0,
  };
}
