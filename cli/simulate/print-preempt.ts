import type { CandidateView, PreemptView, VictimView } from '#shared/simulation/preempt-view.ts';
import { formatSection, joinParts, printLine, reasonTable } from '#cli/output/table.ts';

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
