import type { Because } from '#shared/domain/base/because.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import type { ReasonGroup } from '#shared/domain/preemption/explain/explain-higher-victim.ts';
import type { NodeCandidate } from '#shared/domain/placement/victims/choose-node.ts';
import type { Simulation } from '#shared/domain/preemption/explain/simulate-preemption.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { equalNodes, hasClaims, headline, NOT_SIMULATED } from './messages.ts';
import type { SimulatedPlacement } from './placement.ts';

/** What kube-scheduler would do with a pod, as `plimsoll simulate preempt -o json` prints it. */
export interface PreemptView {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly priority: number;
  readonly priorityClassName: string;
  readonly outcome: Simulation['kind'];
  readonly message: string;
  readonly because: Because;
  /** Where the pod is placed; without preemption, every node that it fits on. */
  readonly nodes: readonly string[];
  /** Nodes that kube-scheduler may choose instead. */
  readonly equalNodes: readonly string[];
  readonly victims: readonly VictimView[];
  readonly candidates: readonly CandidateView[];
  readonly otherNodes: readonly ReasonGroup[];
  readonly explanations: readonly Because[];
  readonly notes: readonly string[];
}

export interface VictimView {
  readonly pod: string;
  readonly uid: string;
  readonly node: string;
  readonly priority: number;
  readonly priorityClassName: string;
}

export interface CandidateView {
  readonly node: string;
  readonly victims: readonly string[];
  readonly budgetViolations: number;
}

export function preemptView({ pod, state, simulation, otherNodes, explanations }: SimulatedPlacement): PreemptView {
  const name = `${pod.namespace}/${pod.name}`;
  const equals = simulation.kind === 'preempts' ? simulation.equals.slice(1) : [];
  return {
    metadata: { namespace: pod.namespace, name: pod.name },
    priority: state.priority,
    priorityClassName: pod.spec.priorityClassName ?? '',
    outcome: simulation.kind,
    message: headline(name, simulation, needsIn(explanations)),
    because: simulation.because,
    nodes: nodesOf(simulation),
    equalNodes: equals,
    ...(simulation.kind === 'preempts' ? preemptionOf(simulation) : { victims: [], candidates: [] }),
    otherNodes,
    explanations,
    notes: [...claimNotes(pod), ...(equals.length > 0 ? [equalNodes(equals)] : []), NOT_SIMULATED],
  };
}

function needsIn(explanations: SimulatedPlacement['explanations']): string {
  return String(explanations.find(({ code }) => code === 'OutsideTheModel')?.facts['needs'] ?? '');
}

function nodesOf(simulation: Simulation): readonly string[] {
  switch (simulation.kind) {
    case 'fits':
      return simulation.nodes;
    case 'waits':
      return [simulation.node];
    case 'preempts':
      return [simulation.chosen.node];
    case 'notPlaceable':
      return [];
  }
}

function preemptionOf({ chosen, candidates }: Extract<Simulation, { kind: 'preempts' }>) {
  return {
    victims: chosen.victims.map((victim) => victimView(victim, chosen.node)),
    candidates: candidates.map(candidateView).toSorted((a, b) => compareTexts(a.node, b.node)),
  };
}

function victimView({ pod, priority }: PlacedPod, node: string): VictimView {
  const { namespace, name, uid, spec } = pod;
  return { pod: `${namespace}/${name}`, uid, node, priority, priorityClassName: spec.priorityClassName ?? '' };
}

function candidateView({ node, victims, budgetViolations }: NodeCandidate): CandidateView {
  return { node, victims: victims.map(({ pod }) => `${pod.namespace}/${pod.name}`), budgetViolations };
}

function claimNotes({ namespace, name, spec }: Pod): readonly string[] {
  const claims = spec.volumes.filter(({ source }) => source === 'persistentVolumeClaim').map((volume) => volume.name);
  return claims.length > 0 ? [hasClaims(`${namespace}/${name}`, claims)] : [];
}
