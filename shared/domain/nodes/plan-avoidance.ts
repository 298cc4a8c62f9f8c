import type { Because } from '#shared/domain/base/because.ts';
import { type Instant, MAX_SKEW_MS, isSameOwner, ownerId, ownerText } from '#shared/domain/pod/pod.ts';
import { type AvoidEntry, lastingEntries, MAX_ENTRIES } from './avoid-nodes.ts';
import { whyLoop } from '#shared/domain/preemption/loop/preemption-rounds.ts';
import type { LoopRecord } from '#shared/domain/preemption/loop/loop-record.ts';
import { type EvictedOwner, evictedOwners, type RecordedEviction } from './evicted-owners.ts';

/** How long an owner is kept away from a node that evicted its pods; milliseconds. */
export interface AvoidPolicy {
  /** After the first round; doubled with each further one. 0 keeps no owner away. */
  readonly avoidForMs: number;
  /** The longest time, and the time of a loop. */
  readonly longestMs: number;
  readonly loop: ReturnPolicy;
}

/** When returns to a node count as a loop, and whether the node is then forbidden to the owner. */
export interface ReturnPolicy {
  readonly rounds: number;
  readonly windowMs: number;
  readonly isForbidding: boolean;
}

/** The next `spec.avoid` of one node. */
export interface AvoidPlan {
  readonly avoid: readonly AvoidEntry[];
  /** Entries that are new or longer than before, each with its reason. */
  readonly changes: readonly AvoidChange[];
  /** Whether `avoid` differs from the present entries; expired ones make a difference as well. */
  readonly isChanged: boolean;
}

export interface AvoidChange {
  readonly entry: AvoidEntry;
  readonly because: Because;
}

/** A node with what its NodePressure holds. */
export interface AvoidingNode {
  readonly name: string;
  readonly avoid: readonly AvoidEntry[];
  readonly evictions: readonly RecordedEviction[];
  /** Loops of preemptions whose latest round was on this node. */
  readonly preemptionLoops: readonly LoopRecord[];
}

/**
 * Plans the avoid list of one node from the evictions that its agent recorded (S0-19, S3-29 to S3-31) and the loops of
 * preemptions that its NodePressure records with the action Avoid. Depends on nothing else, so another leader plans the
 * same. An entry is replaced only by one that lasts longer or forbids more. Expired entries are left out; if there are
 * too many entries, those that end first are left out too.
 */
export function planAvoidance(node: AvoidingNode, policy: AvoidPolicy, now: Instant): AvoidPlan {
  const lasting = lastingEntries(node, now);
  const evicted = evictedOwners(node.evictions, policy.loop.windowMs, now).map((found) =>
    changeFor(node, found, policy),
  );
  const wanted = longestOfEach([...evicted, ...displacedHere(node, policy, now)]);
  const changes = wanted.filter(({ entry }) => entry.until > now && !isCovered(entry, lasting));
  const others = lasting.filter((old) => !changes.some(({ entry }) => isSameOwner(entry.owner, old.owner)));
  const avoid = [...others, ...changes.map(({ entry }) => entry)].sort(longestFirst).slice(0, MAX_ENTRIES);
  const kept = changes.filter(({ entry }) => avoid.includes(entry));
  return { avoid, changes: kept, isChanged: kept.length > 0 || lasting.length < node.avoid.length };
}

/** One change per owner: a list with two would be rewritten in every pass. */
function longestOfEach(changes: readonly AvoidChange[]): readonly AvoidChange[] {
  const longest: AvoidChange[] = [];
  for (const change of changes.toSorted((left, right) => right.entry.until - left.entry.until)) {
    if (!longest.some(({ entry }) => isSameOwner(entry.owner, change.entry.owner))) longest.push(change);
  }
  return changes.filter((change) => longest.includes(change));
}

/** Owners whose pods are to be placed elsewhere until the loop has ended (docs/contributing/decisions/preemption-loops.md). */
function displacedHere(
  { name: node, preemptionLoops }: AvoidingNode,
  policy: AvoidPolicy,
  now: Instant,
): readonly AvoidChange[] {
  return preemptionLoops.flatMap(({ preemptor, victim, rounds, until, action }) => {
    const [first = 0, last = first] = [rounds[0], rounds.at(-1)];
    if (action !== 'Avoid' || last > now + MAX_SKEW_MS) return [];
    const sides = { preemptor: ownerText(preemptor), victim: ownerText(victim) };
    const because = whyLoop(sides, { node, count: rounds.length, windowMs: until - first });
    const hard = policy.loop.isForbidding && !isBoundToNode({ owner: victim });
    const end = Math.min(until, last + policy.longestMs);
    return [{ entry: { owner: victim, until: end, cause: because.text, hard }, because }];
  });
}

function isCovered(entry: AvoidEntry, present: readonly AvoidEntry[]): boolean {
  return present.some(
    (old) => isSameOwner(old.owner, entry.owner) && old.until >= entry.until && (old.hard || !entry.hard),
  );
}

function changeFor(node: AvoidingNode, found: EvictedOwner, policy: AvoidPolicy): AvoidChange {
  const because = reasonFor(node, found, policy);
  const isLoop = because.code === 'EvictionLoop';
  const grown = policy.avoidForMs * 2 ** (found.rounds - 1);
  const lifetimeMs = isLoop ? policy.longestMs : Math.min(grown, policy.longestMs);
  const until = policy.avoidForMs === 0 ? 0 : found.lastAt + lifetimeMs;
  const hard = isLoop && policy.loop.isForbidding && !isBoundToNode(found);
  return { entry: { owner: found.owner, until, cause: because.text, hard }, because };
}

/** The DaemonSet controller ties each pod to its node: forbidden there, it could run nowhere. */
function isBoundToNode({ owner }: Pick<EvictedOwner, 'owner'>): boolean {
  return owner.kind === 'DaemonSet';
}

function reasonFor({ name: node }: AvoidingNode, found: EvictedOwner, { loop }: AvoidPolicy): Because {
  const owner = ownerText(found.owner);
  const { rounds, signal } = found;
  const facts = { node, owner, rounds, signal };
  if (rounds === 1) return { code: 'EvictedHere', text: `evicted from node ${node} for ${signal}`, facts };
  const often = `${rounds} times within ${Math.round(loop.windowMs / 60_000)} min`;
  if (rounds < loop.rounds) {
    return { code: 'EvictedAgain', text: `evicted from node ${node} ${often}, last for ${signal}`, facts };
  }
  const text = `pods of ${owner} return to node ${node} and are evicted there: ${often}, last for ${signal}`;
  return { code: 'EvictionLoop', text, facts };
}

function longestFirst(left: AvoidEntry, right: AvoidEntry): number {
  return right.until - left.until || (ownerId(left.owner) < ownerId(right.owner) ? -1 : 1);
}
