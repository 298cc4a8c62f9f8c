import type { NodeEntry, NodeSheet } from '#shared/domain/model/node-entry.ts';
import { sheetOf } from '#shared/domain/model/node-sheet.ts';
import type { PlacedPod } from '#shared/domain/model/placed-pod.ts';
import { podKey } from '#shared/domain/model/snapshot-pods.ts';
import { inquiryRefusal, openInquiry, putBackAsking, takeOffAsking, type Inquiry } from './inquiry.ts';
import type { Refusal } from './refusal.ts';
import type { Screening } from './screening.ts';
import { openTally, putBackTallying, takeOffTallying, tallyRefusal, type Tally } from './tally.ts';

/**
 * A node on which pods are taken off and put back to see whether the incoming pod then fits; the snapshot stays as it
 * is. Pods go by their index in the node's order of importance. A tally only adds up resources, an inquiry asks every
 * filter; where a tally will do, both say the same.
 */
export type Trial = Tally | Inquiry;

const NOBODY: readonly PlacedPod[] = [];

/** Opens a trial with everybody on the node who is there now. */
export function openTrial(screening: Screening, entry: NodeEntry): Trial {
  const expected = expectedPods(screening, entry);
  if (expected.length === 0 && isTallyEnough(screening, sheetOf(entry))) return openTally(screening, entry);
  return openInquiry(screening.companyFilters, entry, expected);
}

/** Takes pods off the node. */
export function takeOff(trial: Trial, indexes: readonly number[]): void {
  if (trial.kind === 'tally') takeOffTallying(trial, indexes);
  else takeOffAsking(trial, indexes);
}

/** Puts back one after the other, except whom the incoming pod leaves no room for; those stay off and are returned. */
export function putBack(trial: Trial, indexes: readonly number[]): readonly number[] {
  return trial.kind === 'tally' ? putBackTallying(trial, indexes) : putBackAsking(trial, indexes);
}

/** Why the incoming pod does not fit now, as the first filter that fails says it. */
export function refusalIn(trial: Trial): Refusal | undefined {
  return trial.kind === 'tally' ? tallyRefusal(trial) : inquiryRefusal(trial);
}

function isTallyEnough({ isResourcesOnly, needs }: Screening, { isExact, width }: NodeSheet): boolean {
  return isResourcesOnly && isExact && needs.every(({ column }) => column < width);
}

/** Pods that hold no place yet but must be expected: nominated to the node, of equal or higher priority. */
function expectedPods({ pod, priority }: Screening, entry: NodeEntry): readonly PlacedPod[] {
  if (!sheetOf(entry).isPromised) return NOBODY;
  const { nominated } = entry.occupancy;
  return nominated.filter((placed) => placed.priority >= priority && podKey(placed.pod) !== podKey(pod));
}
