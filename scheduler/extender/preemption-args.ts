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
}

/** The answer, with the field names of Kubernetes. */
export interface PreemptionResult {
  readonly NodeNameToMetaVictims: Readonly<Record<string, MetaVictims>>;
}

interface MetaVictims {
  readonly Pods: readonly { readonly UID: string }[];
  readonly NumPDBViolations: number;
}

/**
 * Reads `ExtenderPreemptionArgs`: victims by their UID where the extender keeps its own copy of the pods
 * (`nodeCacheCapable`), as whole pods otherwise. `k8s.io/kube-scheduler/extender/v1` types.go.
 */
export function decodePreemptionArgs(raw: unknown): Decoded<PreemptionArgs> {
  const proposal = decodeObject(raw, readProposal);
  if (!proposal.ok) return proposal;
  const pod = decodePod((raw as WireObject)['Pod']);
  if (pod.ok) return { ok: true, value: { pod: pod.value, proposal: proposal.value } };
  return { ...pod, field: pod.field === '' ? 'Pod' : `Pod.${pod.field}` };
}

/** Nodes that are left, each with its victims. */
export function encodePreemptionResult(left: readonly ProposedVictims[]): PreemptionResult {
  return {
    NodeNameToMetaVictims: Object.fromEntries(
      left.map(({ node, uids, budgetViolations }) => [
        node,
        { Pods: uids.map((UID) => ({ UID })), NumPDBViolations: budgetViolations },
      ]),
    ),
  };
}

function readProposal(args: WireObject): readonly ProposedVictims[] {
  return (
    readNodes(args, 'NodeNameToMetaVictims', (pod) => readText(pod, 'UID') ?? '') ??
    readNodes(args, 'NodeNameToVictims', readUid) ??
    []
  );
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
