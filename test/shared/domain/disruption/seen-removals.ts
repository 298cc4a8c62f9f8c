import type { Evidence } from '#shared/domain/disruption/cause.ts';
import { disruptionOf, type NominatedPreemptor } from '#shared/domain/disruption/removal.ts';
import type { DueWrite, Removals } from '#shared/domain/disruption/removals.ts';
import { buildPod, type PodFields } from '#test/build/cluster.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const MANY = 100_000;
/** A pod that was seen to go from a node in order, which shows no cause. */
export const NO_EVIDENCE: Evidence = {
  disruptionTarget: undefined,
  statusReason: undefined,
  isOomKilled: false,
  isWitnessed: true,
  node: { isCordoned: false, isSilent: false },
  agent: undefined,
};
export const PREEMPTED: Evidence = { ...NO_EVIDENCE, disruptionTarget: 'PreemptionByScheduler' };
export const EVICTED = { ...PREEMPTED, disruptionTarget: 'EvictionByEvictionAPI' };
export const DELETED = { ...PREEMPTED, disruptionTarget: undefined };
export const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'uid-web', isController: true };
export const BECAUSE = { code: 'HardThresholdMet', text: 'memory.available is 90Mi', facts: {} };

export function seen(fields: PodFields & { readonly owned?: boolean }, evidence: Evidence, at: number) {
  const pod = { ...buildPod(fields), owners: fields.owned === true ? [OWNER] : [] };
  return { pod, node: 'node-1', evidence, at };
}

export function nominated(name: string, at: number, more: Partial<NominatedPreemptor> = {}): NominatedPreemptor {
  return {
    uid: `uid-${name}`,
    pod: name,
    namespace: 'default',
    priorityClassName: 'high',
    priority: 1_000,
    nominatedNode: 'node-1',
    at,
    ...more,
  };
}

/** What is due where no limit covers a pod; like the leader, debits first. */
export function dueWrites(removals: Removals, now: number, most = MANY): readonly DueWrite[] {
  removals.debits.done(removals.dueDebits(now, { most: MANY, left: new Set() }).map(({ uid }) => uid));
  return removals.due(now, most);
}

export function due(removals: Removals, now: number) {
  return dueWrites(removals, now).map(({ uid, write }) => `${write} ${uid}`);
}

/** Writes everything that is due, as the leader does. */
export function writeAll(removals: Removals, now: number): readonly DueWrite[] {
  const writes = dueWrites(removals, now);
  for (const { uid, write, removal } of writes) removals.written(uid, write, removal.outcome.others.length);
  return writes;
}

export function recordOf(removals: Removals, now: number) {
  const [first] = dueWrites(removals, now);
  return first && disruptionOf(first.removal);
}
