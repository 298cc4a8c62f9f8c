import type { PassResult } from '#shared/decide/eviction/decide.ts';
import { LawAgent, type Tamper } from './agent.ts';
import { LawApiServer } from './api-server.ts';
import { LawKubelet } from './kubelet.ts';
import { LawNode, type LivePod } from './node.ts';
import type { Scenario } from './scenario.ts';

/** What observes an episode with the agent. */
export interface Witness {
  /** An eviction request reached the API server, before its answer. */
  readonly onEviction: (pod: LivePod, node: LawNode) => void;
  readonly onPass: (result: PassResult, node: LawNode) => void;
  readonly onTick: (node: LawNode) => void;
}

export const UNWATCHED: Witness = { onPass: () => undefined, onEviction: () => undefined, onTick: () => undefined };

/** The same episode with the kubelet alone. */
export function runAlone(scenario: Scenario): LawNode {
  const node = new LawNode(scenario);
  const kubelet = new LawKubelet(node);
  while (node.nowMs < scenario.lengthMs && !node.isOver()) {
    node.tick();
    kubelet.tick();
  }
  return node;
}

/** The episode with the agent beside the kubelet. */
export async function runWithAgent(scenario: Scenario, witness: Witness, tamper?: Tamper): Promise<LawNode> {
  const node = new LawNode(scenario);
  const kubelet = new LawKubelet(node);
  const api = new LawApiServer(node, (pod) => {
    pod.askedAtMs ??= node.nowMs;
    node.note('asked', pod);
    witness.onEviction(pod, node);
  });
  const agent = new LawAgent(node, api, tamper);
  while (node.nowMs < scenario.lengthMs && !node.isOver()) {
    node.tick();
    kubelet.tick();
    if (api.tick()) await settled();
    const result = agent.tick();
    if (result !== undefined) {
      witness.onPass(result, node);
      taint(node, result);
    }
    if (result !== undefined && result.decision.evictions.length > 0) await settled();
    witness.onTick(node);
  }
  return node;
}

/** The scheduler process keeps replacements off a node whose agent evicts. */
function taint(node: LawNode, { decision }: PassResult): void {
  const { isTainted, lengthMs } = node.scenario;
  if (isTainted && decision.evictions.some(({ mode }) => mode === 'Enforce')) node.taintedUntilMs = lengthMs;
}

/** Lets everything that is under way run until it waits for simulated time. */
function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
