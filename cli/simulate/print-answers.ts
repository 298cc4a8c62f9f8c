import { readableAmount } from '#shared/domain/quantity/format-quantity.ts';
import type {
  NotEvictedPod,
  OrderEntry,
  PressureView,
  ThresholdEntry,
} from '#shared/decide/simulation/pressure-view.ts';
import type { CandidateView, PreemptView, VictimView } from '#shared/decide/simulation/preempt-view.ts';
import { formatSection, joinParts, printLine, reasonTable } from '#cli/output/table.ts';
import { morePods } from './messages.ts';

/** The answer to `simulate preempt`, as tables. */
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
  return candidates.filter(({ node }) => !nodes.includes(node)).slice(0, MAX_CANDIDATES);
}

const MAX_CANDIDATES = 10;

function victimCells({ pod, priority, priorityClassName, node }: VictimView): readonly string[] {
  return [pod, String(priority), priorityClassName || '<none>', node];
}

function candidateCells({ node, victims, budgetViolations }: CandidateView): readonly string[] {
  return [node, victims.join(','), String(budgetViolations)];
}

/** As many as the report of an agent names. */
const MAX_SHOWN = 10;
const UNKNOWN = '<unknown>';
const MET = { true: 'yes', false: 'no', unknown: UNKNOWN } as const;

/** The answer to `simulate pressure`, as tables. */
export function printPressure(view: PressureView): string {
  return joinParts([
    `${printLine(view.message)}${printLine(`  ${view.because.text}`)}`,
    formatSection(['ORDER', 'POD', 'PRIORITY', 'USAGE', 'REQUEST', 'REASON'], shownOrder(view).map(orderCells)),
    formatSection(['NOT EVICTED', 'PRIORITY', 'REASON'], view.notEvicted.map(keptCells)),
    formatSection(['THRESHOLD', 'LEAST', 'GRACE PERIOD', 'MODE', 'MET'], view.thresholds.map(thresholdCells)),
    [...view.explanations, ...moreText(view)].map((text) => printLine(`- ${text}`)).join(''),
  ]);
}

function shownOrder({ order }: PressureView): readonly OrderEntry[] {
  return order.slice(0, MAX_SHOWN);
}

function moreText({ order }: PressureView): readonly string[] {
  const more = order.length - MAX_SHOWN;
  return more > 0 ? [morePods(more)] : [];
}

function orderCells({ position, pod, priority, usage, request, because }: OrderEntry): readonly string[] {
  const used = usage === undefined ? UNKNOWN : readableAmount(usage);
  return [String(position), pod, String(priority), used, readableAmount(request), because.text];
}

function keptCells({ pod, priority, because }: NotEvictedPod): readonly string[] {
  return [pod, String(priority), because.text];
}

function thresholdCells({ kind, shown = UNKNOWN, gracePeriodSeconds, mode, met }: ThresholdEntry): readonly string[] {
  return [kind, shown, `${gracePeriodSeconds}s`, mode, MET[`${met}`]];
}
