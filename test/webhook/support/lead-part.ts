import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { ControllerPart } from '#shared/kube/lease/run-controller.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { repeat } from '#shared/runtime/repeat.ts';

/** Runs the passes of a part as in a term that the test holds, with the periods of the clock. */
export function leadPart(part: ControllerPart, term: LeaseTerm, end: AbortSignal, clock: Clock): void {
  for (const pass of part.begin(term, end).passes) void repeat({ ...pass, clock }, end);
}
