import type { Because } from '#shared/domain/model/because.ts';
import { takenAway, type NodeVerdict } from './proposal.ts';

/** Takes away the nodes that the preemptor should leave to others, unless no other is left: the pod must find room. */
export function leaveNodes(
  verdicts: readonly NodeVerdict[],
  toLeave: ReadonlyMap<string, Because>,
): readonly NodeVerdict[] {
  const isOther = (verdict: NodeVerdict): boolean => verdict.kind !== 'takenAway' && !toLeave.has(verdict.victims.node);
  if (toLeave.size === 0 || !verdicts.some(isOther)) return verdicts;
  return verdicts.map((verdict) => {
    if (verdict.kind === 'takenAway') return verdict;
    const because = toLeave.get(verdict.victims.node);
    return because === undefined ? verdict : takenAway(verdict.victims.node, because);
  });
}
