import { type RunningGang, spareMembers } from '#shared/domain/gang/gang-cost.ts';
import type { RoomState } from '#shared/domain/queue/make-room.ts';
import type { RunningPod } from '#shared/domain/queue/queue-pod.ts';
import { gangBudget } from '#shared/domain/queue/reclaim-gangs.ts';
import type { QueueGang, QueueMember } from './gangs.ts';

type Filled = RunningGang<RunningPod> & { readonly running: RunningPod[] };

/**
 * The room with the gangs that run: one by one their pods go only as far as a gang keeps its minimum, as if a budget said
 * so, and beyond that all of them go or none. Gangs below their minimum are no gangs here.
 */
export function withGangs(state: RoomState, gangs: readonly QueueGang[], isGoing: (uid: string) => boolean): RoomState {
  const filled = new Map<string, Filled>();
  const members: QueueMember[] = [];
  for (const { key, min, members: all } of gangs) {
    const running = all.filter(({ pod }) => pod.isBound && !isGoing(pod.uid));
    if (running.length < min) continue;
    const gang = { key, min, running: [] };
    for (const { uid } of running) filled.set(uid, gang);
    members.push(...running);
  }
  if (filled.size === 0) return state;
  const nodes = state.nodes.map((node) => ({ ...node, pods: node.pods.map((pod) => inGang(pod, node.name, filled)) }));
  const all = new Set(filled.values());
  const shown = new Set([...all].flatMap(({ running }) => running.map(({ uid }) => uid)));
  for (const member of members) if (!shown.has(member.uid)) filled.get(member.uid)?.running.push(keptPod(member));
  const spare = Array.from(all, (gang) => [gangBudget(gang.key), spareMembers(gang)] as const);
  return { ...state, gangs: [...all], nodes, budgets: new Map([...state.budgets, ...spare]) };
}

function inGang(pod: RunningPod, node: string, gangs: ReadonlyMap<string, Filled>): RunningPod {
  const gang = gangs.get(pod.uid);
  if (gang === undefined) return pod;
  const member = { ...pod, node, ofGang: gang, budgets: [...pod.budgets, gangBudget(gang.key)] };
  gang.running.push(member);
  return member;
}

/** A member that is protected, or on a node from which nothing is taken. */
function keptPod({ uid, name, queue, requests, pod: { priority, application, owner } }: QueueMember): RunningPod {
  const facts = { isOriginator: false, isDaemonSet: false, mayBePreempted: false, startedAt: undefined };
  const never = { ownerDisruptedAt: undefined, hasController: owner !== undefined, budgets: [], isKept: true };
  return { uid, name, queue, requests, priority, application, ...facts, ...never };
}
