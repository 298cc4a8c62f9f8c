import type { NodeCandidate } from '#shared/domain/placement/victims/choose-node.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { Log } from '#shared/runtime/log.ts';
import { readBytes } from '#shared/runtime/read-bytes.ts';
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

export interface ExtenderOptions {
  /** `urlPrefix` of the extender; `undefined` while there is none. */
  readonly url: () => string | undefined;
  readonly timeoutMs: number;
  readonly log: Log;
}

/** A preemption that waits for the extender's answer. */
export interface ProposedPreemption {
  /** The preemptor as the API server stores it. */
  readonly pod: KubeObject;
  readonly candidates: readonly NodeCandidate[];
  readonly find: FindVictim;
}

const LARGEST_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Calls the extender's verb `preempt` for the candidates that may be used: all of them, if there is no usable answer in
 * time, as with an extender that is `ignorable` in kube-scheduler's configuration. Never rejects.
 */
export async function askExtender(
  options: ExtenderOptions,
  proposal: ProposedPreemption,
): Promise<readonly NodeCandidate[]> {
  const url = options.url();
  if (url === undefined || proposal.candidates.length === 0) return proposal.candidates;
  try {
    return await callExtender(`${url}/preempt`, options.timeoutMs, proposal);
  } catch (error) {
    options.log.warn({ url, reason: errorText(error) }, 'Extender ignored');
    return proposal.candidates;
  }
}

async function callExtender(
  url: string,
  timeoutMs: number,
  proposal: ProposedPreemption,
): Promise<readonly NodeCandidate[]> {
  const { pod, candidates, find } = proposal;
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(encodePreemptionArgs(pod, candidates)),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await readBytes((response.body ?? []) as AsyncIterable<Uint8Array>, LARGEST_ANSWER_BYTES);
  if (response.status !== 200) throw new Error(`the extender answered with status ${response.status}`);
  const result = decodePreemptionResult(JSON.parse(text.toString('utf8')), find);
  if (!result.ok) throw new Error(`cannot read ${result.field || 'the answer'}: ${result.message}`);
  return result.value;
}

/** Finds a pod by its node and UID; `undefined` if the node has no such pod. */
export type FindVictim = (node: string, uid: string) => PlacedPod | undefined;

const KEY = 'NodeNameToMetaVictims';
/** Added to each priority, so that more victims always weigh more. */
const PRIORITY_SHIFT = 2 ** 31;

/** `ExtenderPreemptionArgs` for an extender with its own copy of the pods. `k8s.io/kube-scheduler/extender/v1` types.go. */
function encodePreemptionArgs(pod: KubeObject, candidates: readonly NodeCandidate[]): object {
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
function decodePreemptionResult(raw: unknown, find: FindVictim): Decoded<readonly NodeCandidate[]> {
  return decodeObject(raw, (answer) => {
    const nodes: WireObject = readObject(answer, KEY, (byNode) => byNode) ?? refuseField(KEY, 'is missing');
    const left = Object.keys(nodes).map((node) => readObject(nodes, node, (it) => readCandidate(node, it, find)));
    return left.filter((candidate) => candidate !== undefined && candidate.victims.length > 0) as NodeCandidate[];
  });
}

function readCandidate(node: string, answer: WireObject, find: FindVictim): NodeCandidate {
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
