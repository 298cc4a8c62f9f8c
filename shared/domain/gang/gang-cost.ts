/** A gang as whatever takes pods sees it: the members that run and are not terminating. */
export interface RunningGang<M> {
  /** `namespace/name`. */
  readonly key: string;
  readonly min: number;
  readonly running: readonly M[];
}

/** How many members may be taken before all are lost. A gang below its minimum has nothing to lose as a whole. */
export function spareMembers({ running, min }: RunningGang<unknown>): number {
  return running.length < min ? Infinity : running.length - min;
}

/**
 * What taking pods costs beyond them: of each gang that falls below its minimum, the members that are left. Eviction,
 * preemption, reclaim and rescheduling all ask here, so that a gang is one victim for each of them.
 */
export function lostWith<M>(taken: readonly M[], gangOf: (member: M) => RunningGang<M> | undefined): readonly M[] {
  const counts = new Map<RunningGang<M>, number>();
  for (const each of taken) {
    const gang = gangOf(each);
    if (gang !== undefined) counts.set(gang, (counts.get(gang) ?? 0) + 1);
  }
  const broken = Array.from(counts).filter(([gang, count]) => count > spareMembers(gang));
  return broken.flatMap(([{ running }]) => running.filter((member) => !taken.includes(member)));
}
