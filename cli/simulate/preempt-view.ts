import type { Because } from '#shared/domain/model/because.ts';
import { compareTexts } from '#shared/domain/model/texts.ts';
import type { ReasonGroup } from '#shared/domain/preemption/explain/explain-higher-victim.ts';
import type { Candidate } from '#shared/domain/preemption/victims/choose-node.ts';
import type { Simulation } from '#shared/domain/preemption/explain/simulate-preemption.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Placement } from '#cli/cluster/placement.ts';
import { headline, reasonTable, formatSection, joinParts, printLine } from '#cli/output/table.ts';
import type { Metadata } from '#cli/output/answer.ts';
import { equalNodes, hasClaims, NOT_SIMULATED } from './messages.ts';

/** What `plimsoll simulate preempt -o json` prints. */
export interface PreemptView {
  readonly metadata: Metadata;
  readonly priority: number;
  readonly priorityClassName: string;
  readonly outcome: Simulation['kind'];
  readonly message: string;
  readonly because: Because;
  /** Where the pod goes; where it fits without preemption, every node that it fits on. */
  readonly nodes: readonly string[];
  /** Nodes that kube-scheduler may as well take. */
  readonly equalNodes: readonly string[];
  readonly victims: readonly VictimView[];
  readonly candidates: readonly CandidateView[];
  readonly otherNodes: readonly ReasonGroup[];
  readonly explanations: readonly Because[];
  readonly notes: readonly string[];
}

interface VictimView {
  readonly pod: string;
  readonly uid: string;
  readonly node: string;
  readonly priority: number;
  readonly priorityClassName: string;
}

interface CandidateView {
  readonly node: string;
  readonly victims: readonly string[];
  readonly budgetViolations: number;
}

export function preemptView({ pod, state, simulation, otherNodes, explanations }: Placement): PreemptView {
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

function needsIn(explanations: Placement['explanations']): string {
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

function candidateView({ node, victims, budgetViolations }: Candidate): CandidateView {
  return { node, victims: victims.map(({ pod }) => `${pod.namespace}/${pod.name}`), budgetViolations };
}

function claimNotes({ namespace, name, spec }: Pod): readonly string[] {
  const claims = spec.volumes.filter(({ source }) => source === 'persistentVolumeClaim').map((volume) => volume.name);
  return claims.length > 0 ? [hasClaims(`${namespace}/${name}`, claims)] : [];
}

/** The view as tables for people. */
export function printPreempt(view: PreemptView): string {
  return joinParts([
    `${printLine(view.message)}${printLine(`  ${view.because.text}`)}`,
    formatSection(['VICTIM', 'PRIORITY', 'CLASS', 'NODE'], view.victims.map(victimCells)),
    formatSection(['CANDIDATE', 'VICTIMS', 'OVER BUDGET'], otherCandidates(view).map(candidateCells)),
    reasonTable(view.otherNodes),
    view.explanations.map(({ text }) => printLine(`- ${text}`)).join(''),
  ]);
}

function otherCandidates({ candidates, nodes }: PreemptView): readonly CandidateView[] {
  return candidates.filter(({ node }) => !nodes.includes(node)).slice(0, MOST_CANDIDATES);
}

const MOST_CANDIDATES = 10;

function victimCells({ pod, priority, priorityClassName, node }: VictimView): readonly string[] {
  return [pod, String(priority), priorityClassName || '<none>', node];
}

function candidateCells({ node, victims, budgetViolations }: CandidateView): readonly string[] {
  return [node, victims.join(','), String(budgetViolations)];
}
