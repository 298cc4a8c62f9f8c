import type { Candidate } from '#shared/domain/preemption/victims/choose-node.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import {
  type Decoded,
  decodeObject,
  readCount,
  readList,
  readObject,
  readText,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';

/** Finds a pod by its node and UID; `undefined` where the node has no such pod. */
export type FindVictim = (node: string, uid: string) => PlacedPod | undefined;

const KEY = 'NodeNameToMetaVictims';
/** Added to each priority, so that more victims always weigh more. */
const PRIORITY_SHIFT = 2 ** 31;

/** `ExtenderPreemptionArgs` for an extender with its own copy of the pods. `k8s.io/kube-scheduler/extender/v1` types.go. */
export function encodePreemptionArgs(pod: KubeObject, candidates: readonly Candidate[]): object {
  const proposed = candidates.map<[string, object]>(({ node, victims, budgetViolations }) => [
    node,
    { Pods: victims.map(({ pod: { uid } }) => ({ UID: uid })), NumPDBViolations: budgetViolations },
  ]);
  return { Pod: pod, NodeNameToVictims: null, [KEY]: Object.fromEntries<object>(proposed) };
}

/**
 * The candidates that remain after an extender's answer. An unknown victim makes the whole answer invalid; a node without
 * victims is left out. `pkg/scheduler/framework/preemption/preemption.go` callExtenders.
 */
export function decodePreemptionResult(raw: unknown, find: FindVictim): Decoded<readonly Candidate[]> {
  return decodeObject(raw, (answer) => {
    const nodes: WireObject = readObject(answer, KEY, (byNode) => byNode) ?? refuseField(KEY, 'is missing');
    const left = Object.keys(nodes).map((node) => readObject(nodes, node, (it) => readCandidate(node, it, find)));
    return left.filter((candidate) => candidate !== undefined && candidate.victims.length > 0) as Candidate[];
  });
}

function readCandidate(node: string, answer: WireObject, find: FindVictim): Candidate {
  const victims = readList(answer, 'Pods', (pod) => {
    const uid = readText(pod, 'UID') ?? '';
    return find(node, uid) ?? refuseField('UID', `node ${node} has no pod "${uid}"`);
  });
  const priorities = victims.map(({ priority }) => priority);
  return {
    kind: 'candidate',
    node,
    victims,
    budgetViolations: readCount(answer, 'NumPDBViolations') ?? 0,
    topPriority: priorities[0] ?? 0,
    prioritySum: priorities.reduce((sum, priority) => sum + priority + PRIORITY_SHIFT, 0),
  };
}
