import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { ControllerPart, TermWork } from '#shared/kube/lease/run-controller.ts';
import { encodePreemptionLoops } from '#shared/api/node-pressure.ts';
import type { LoopRecord } from '#shared/domain/preemption/loop/loop-record.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import { NODE_PRESSURES } from '#shared/kube/resource.ts';
import { faultLog, reportRounds } from '#shared/runtime/fault-log.ts';
import type { PreemptionLoops } from './preemption-loops.ts';

/** What one NodePressure records. */
export interface RecordedLoops {
  readonly node: string;
  readonly records: readonly LoopRecord[];
}

export interface RecordOptions extends ClientContext {
  readonly loops: Pick<PreemptionLoops, 'records'>;
  /** NodePressures as the watch shows them; `undefined` before all have been read. */
  readonly recorded: () => Iterable<RecordedLoops> | undefined;
}

const NOT_RECORDED = 'Loops of preemptions not recorded';
const PERIOD_MS = 1_000;
const DEADLINE_MS = 60_000;
/** Maximum writes in one pass. */
const MAX_WRITES = 20;
const PATCH = { type: 'merge', fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

/**
 * Keeps `spec.preemptionLoops` of all NodePressures equal to the loops that this process knows, on the replica that
 * leads.
 */
export function loopRecorder(options: RecordOptions): ControllerPart {
  const begin = (term: LeaseTerm): TermWork => {
    const rounds = reportRounds(options.log, NOT_RECORDED);
    const task = (passing: AbortSignal): Promise<void> => recordOnce(options, term, passing);
    return { passes: [{ task, periodMs: PERIOD_MS, deadlineMs: DEADLINE_MS, ...rounds }] };
  };
  return { name: 'loops of preemptions', lease: 'plimsoll-preemption-loops', begin };
}

/**
 * Writes the lists that have changed. No other process writes them, so each is replaced without checking the
 * resourceVersion: agents write these objects all the time. The next pass corrects what a former leader wrote last.
 */
export async function recordOnce(
  { client, loops, recorded, log }: RecordOptions,
  term: Pick<LeaseTerm, 'isHeld'>,
  signal: AbortSignal,
): Promise<void> {
  const present = recorded();
  if (present === undefined) return;
  const wanted = loops.records();
  const changed = Array.from(present, ({ node, records }) => ({ node, records, next: wanted.get(node) ?? [] })).filter(
    ({ records, next }) => !isEqual(records, next),
  );
  for (const { node, next } of changed.slice(0, MAX_WRITES)) {
    if (!term.isHeld() || signal.aborted) return;
    const patch = { spec: { preemptionLoops: encodePreemptionLoops(next) } };
    const outcome = await patchObject(client, { resource: NODE_PRESSURES, name: node }, patch, { ...PATCH, signal });
    if (outcome.kind !== 'notFound') faultLog(log, NOT_RECORDED).answered(node, outcome);
    if (outcome.kind === 'ok' || outcome.kind === 'notFound') continue;
    // Only this object failed; the others must not wait for it.
    if (outcome.kind !== 'invalid') return;
  }
}

function isEqual(left: readonly LoopRecord[], right: readonly LoopRecord[]): boolean {
  if (left.length !== right.length) return false;
  return JSON.stringify(encodePreemptionLoops(left)) === JSON.stringify(encodePreemptionLoops(right));
}
