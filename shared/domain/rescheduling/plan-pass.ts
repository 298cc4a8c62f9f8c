import type { Because } from '#shared/domain/model/because.ts';
import type { Steps } from '#shared/domain/model/steps.ts';
import { compareTexts } from '#shared/domain/model/texts.ts';
import { ownerText } from '#shared/domain/pod/pod-owner.ts';
import { createGuesser, type Guesser } from './guess-placement.ts';
import { FRESH_POLICY, type PastMove, type ReschedulingMemory, rememberMoves, settleMoves } from './memory.ts';
import { REASONS } from './messages.ts';
import { applyMove, type OwnerGroup, type PassCluster, type PassNode } from './pass-cluster.ts';
import { losesPreference } from './policies/affinity.ts';
import { restartsOf } from './policies/bad-service.ts';
import { countHotReadings, loadsOf, unevenness, yardstickOf } from './policies/underused.ts';
import type { PolicyInput, Wish, WishGroup } from './policies/wish.ts';
import { POLICIES } from './policy-table.ts';
import { POLICY_KINDS, type PolicyKind, type ReschedulingPolicy, RESTRAINTS } from './policy.ts';
import { type Account, openAccount, type RateLimit } from './restraint.ts';
import { type Movable, type MoveRules, type RunningPod, runningPod } from './running-pod.ts';
import type { Arrival } from './spread-scores.ts';

/** What a pass decides on. */
export interface PassInput {
  readonly cluster: PassCluster;
  readonly policy: ReschedulingPolicy;
  readonly rules: MoveRules;
  readonly limits: readonly RateLimit[];
  readonly memory: ReschedulingMemory;
  /** Moves that the pass may make. */
  readonly most: number;
  /** Nodes with an avoid entry for an owner that lasts. */
  readonly avoidedBy: (owner: OwnerGroup) => ReadonlySet<string>;
}

/** One move: an eviction whose replacement kube-scheduler is expected to place better. Nothing is promised. */
export interface Move {
  readonly policy: PolicyKind;
  readonly pod: RunningPod;
  readonly from: string;
  /** Where the replacement is expected; several nodes that score alike. */
  readonly expectedOn: readonly string[];
  readonly gain: number;
  readonly because: Because;
  readonly avoidForMs: number;
}

/** A pod that a policy would have moved, or that is protected, and why it stays. */
export interface Stay {
  readonly pod: string;
  readonly node: string;
  readonly policy: PolicyKind;
  readonly because: Because;
}

export interface PassResult {
  readonly moves: readonly Move[];
  readonly stays: readonly Stay[];
  /** Pods that some policy looked at. */
  readonly considered: number;
  /** Sum of the squared loads of the open nodes in points, now and once the moves are done. */
  readonly unevenness: { readonly before: number; readonly after: number };
  readonly memory: ReschedulingMemory;
}

/** Nodes that a pass looks at in all of its guesses, so that a large cluster takes no longer than it may. */
const MOST_LOOKS = 300_000;
/** Candidates that are compared for one move. */
const MOST_COMPARED = 60;
/** Reasons that a pass keeps. */
const MOST_STAYS = 5_000;

/** Plans one pass. The cluster is changed as if the moves were made; each is planned on what the earlier ones leave. */
export function* planPass(input: PassInput): Steps<PassResult> {
  const { cluster, policy } = input;
  const before = unevenness(cluster);
  const settled = settleMoves(input.memory, cluster, {
    reachedBy: (kind) => POLICIES[kind].reached(cluster, policy),
    isFailing: (pod) => restartsOf(pod) >= (policy.badService?.restarts ?? Infinity),
  });
  const memory = { ...settled, hotReadings: hotReadings(settled, input) };
  const restraint = RESTRAINTS[policy.aggressiveness];
  const arrivals: Arrival[] = [];
  const pass: Pass = {
    input,
    memory,
    account: openAccount(cluster, memory, { restraint, limits: input.limits }),
    guesser: yield* createGuesser(cluster, arrivals),
    arrivals,
    moves: [],
    stays: [],
    looks: 0,
    considered: 0,
  };
  const asked: PolicyInput = { ...input, restraint, memory, movable: movableIn(pass) };
  for (const kind of POLICY_KINDS) yield* servePolicy(pass, kind, yield* POLICIES[kind].wishes(asked));
  const made = pass.moves.map(({ move, past }) => ({ owner: move.pod.owner.id, move: past }));
  return {
    moves: pass.moves.map(({ move }) => move),
    stays: pass.stays,
    considered: pass.considered,
    unevenness: { before, after: unevenness(cluster) },
    memory: rememberMoves(memory, made),
  };
}

/** Readings of one pass; without a policy by usage there are none. */
function hotReadings({ hotReadings: before }: ReschedulingMemory, { cluster, policy: { underused } }: PassInput) {
  return underused?.by === 'Usage' ? countHotReadings(before, cluster, underused) : new Map<string, number>();
}

interface Pass {
  readonly input: PassInput;
  readonly memory: ReschedulingMemory;
  readonly account: Account;
  readonly guesser: Guesser;
  readonly arrivals: Arrival[];
  readonly moves: { readonly move: Move; readonly past: PastMove }[];
  readonly stays: Stay[];
  looks: number;
  considered: number;
}

function movableIn(pass: Pass): PolicyInput['movable'] {
  const { cluster, rules } = pass.input;
  return (placed, node): Movable | undefined => {
    const movable = runningPod(cluster, [placed, node], rules);
    if (movable === undefined) return undefined;
    pass.considered += 1;
    return movable;
  };
}

/** Makes the moves of one policy: the most urgent group first, each move planned on what the earlier ones leave. */
function* servePolicy(pass: Pass, kind: PolicyKind, groups: readonly WishGroup[]): Steps<void> {
  const { rate } = pass.memory.policies.get(kind) ?? FRESH_POLICY;
  const most = Math.min(pass.input.most, pass.moves.length + Math.ceil(pass.input.most * rate));
  const open = new Map(groups.map((group) => [group, [...group.wishes]]));
  while (open.size > 0) {
    const [group, wishes] = mostUrgent(open);
    const left = group.urgency() > 0 ? wishes.filter((wish) => wish.worth() > 0) : [];
    const isFull = pass.moves.length >= most || pass.looks >= MOST_LOOKS;
    const rest = isFull ? noMore(pass, left) : yield* moveOne(pass, left);
    if (rest.length === 0) open.delete(group);
    else open.set(group, rest);
    yield;
  }
}

function mostUrgent(open: ReadonlyMap<WishGroup, Wish[]>): readonly [WishGroup, Wish[]] {
  const [first, ...others] = open as Iterable<readonly [WishGroup, Wish[]]>;
  return others.reduce((best, each) => (each[0].urgency() > best[0].urgency() ? each : best), first as never);
}

function noMore(pass: Pass, wishes: readonly Wish[]): Wish[] {
  const { most } = pass.input;
  const because = pass.looks >= MOST_LOOKS ? REASONS.notExamined({}) : REASONS.passLimit({ most });
  for (const wish of wishes) keep(pass, wish, because);
  return [];
}

/** Compares the first few candidates of a group and moves the one that gains most; returns the wishes that are left. */
function* moveOne(pass: Pass, wishes: readonly Wish[]): Steps<Wish[]> {
  const left = new Set(wishes);
  const places: Place[] = [];
  const compared = comparedFor(pass);
  for (const wish of inOrder(pass, wishes)) {
    if (places.length >= compared || pass.looks >= MOST_LOOKS) break;
    const place = yield* findPlace(pass, wish);
    if (place.kind === 'place') places.push(place);
    else {
      keep(pass, wish, place.because);
      left.delete(wish);
    }
  }
  const best = places.reduce<Place | undefined>(
    (most, each) => (most === undefined || each.gain > most.gain ? each : most),
    undefined,
  );
  if (best === undefined) return [];
  carryOut(pass, best);
  left.delete(best.wish);
  return [...left];
}

function comparedFor({ input: { cluster, most } }: Pass): number {
  const affordable = Math.floor(MOST_LOOKS / (cluster.nodes.length * Math.max(1, most)));
  return Math.min(MOST_COMPARED, Math.max(1, affordable));
}

/** What it is worth decides first, in steps of a half; then the owner that was disrupted longest ago (S3-8). */
function inOrder({ account }: Pass, wishes: readonly Wish[]): readonly Wish[] {
  const keyed = wishes.map((wish) => ({
    wish,
    worth: Math.round(Math.log2(wish.worth()) * 2),
    disruptedAt: account.disruptedAt(wish.pod.owner),
    priority: wish.pod.placed.priority,
    uid: wish.pod.placed.pod.uid,
  }));
  keyed.sort(
    (a, b) =>
      b.worth - a.worth || a.disruptedAt - b.disruptedAt || a.priority - b.priority || compareTexts(a.uid, b.uid),
  );
  return keyed.map(({ wish }) => wish);
}

interface Place {
  readonly kind: 'place';
  readonly wish: Wish;
  readonly targets: readonly PassNode[];
  /** The least that one of the targets would bring. */
  readonly gain: number;
}

type Finding = Place | { readonly kind: 'none'; readonly because: Because };

function* findPlace(pass: Pass, wish: Wish): Steps<Finding> {
  const held = pass.account.holds(wish.pod) ?? whyNextPass(pass, wish);
  if (held !== undefined) return { kind: 'none', because: held };
  const { owner, node } = wish.pod;
  const own = wish.avoidForMs > 0 ? [node.name] : [];
  const avoided = new Set([...pass.input.avoidedBy(owner), ...own]);
  pass.looks += pass.input.cluster.nodes.length;
  const guess = yield* pass.guesser.guess(wish.pod, avoided);
  if (guess.kind === 'unplaced') return { kind: 'none', because: guess.because };
  for (const target of guess.nodes) {
    const because = whyNotThere(pass, wish, target);
    if (because !== undefined) return { kind: 'none', because };
  }
  const gain = guess.nodes.reduce((least, target) => Math.min(least, wish.gainOn(target)), Infinity);
  return { kind: 'place', wish, targets: guess.nodes, gain };
}

/**
 * kube-scheduler spreads the pods of an owner. By usage, which it does not look at, a replacement on another node than the
 * expected one may do harm, so the second move of an owner waits for the next pass.
 */
function whyNextPass({ arrivals, input }: Pass, { policy, pod }: Wish): Because | undefined {
  if (policy !== 'underused' || input.policy.underused?.by !== 'Usage') return undefined;
  const related = arrivals.find(({ placed }) => pod.owner.pods.includes(placed));
  return related && REASONS.relatedMove({ pod: `${related.placed.pod.namespace}/${related.placed.pod.name}` });
}

/** Why a move has no gain if kube-scheduler places the replacement there. */
function whyNotThere({ account }: Pass, wish: Wish, target: PassNode): Because | undefined {
  const { owner, node, placed } = wish.pod;
  if (target === node) return REASONS.stayPut({ node: node.name });
  if (target.closed !== undefined) return REASONS.targetClosed({ node: target.name, why: target.closed.text });
  if (account.formerNodesOf(owner).has(target.name)) {
    return REASONS.formerNode({ node: target.name, owner: ownerText(owner.key) });
  }
  const against =
    wish.reasonAgainst(target) ?? (wish.policy === 'underused' ? losesPreference(placed, node, target) : undefined);
  if (against !== undefined) return against;
  const gain = wish.gainOn(target);
  const least = wish.leastGain;
  return gain < least ? REASONS.littleGain({ node: target.name, gain, least }) : undefined;
}

function carryOut(pass: Pass, { wish, targets, gain }: Place): void {
  const { policy, pod, because, avoidForMs } = wish;
  const { cluster } = pass.input;
  const target = targets[0] as PassNode;
  const past: PastMove = {
    uid: pod.placed.pod.uid,
    policy,
    from: pod.node.name,
    expectedOn: target.name,
    at: cluster.now,
    expected: gain,
    sourceLoad: sourceLoad(pass, pod.node),
    replicas: pod.owner.pods.length,
    replacement: undefined,
  };
  const expectedOn = targets.map(({ name }) => name);
  pass.moves.push({ move: { policy, pod, from: pod.node.name, expectedOn, gain, because, avoidForMs }, past });
  pass.arrivals.push({ placed: pod.placed, target });
  pass.account.debit(pod);
  applyMove(cluster, pod.placed, pod.node, target);
}

function sourceLoad({ input: { cluster, policy } }: Pass, node: PassNode): readonly number[] {
  return policy.underused === undefined ? [] : loadsOf(yardstickOf(cluster, policy.underused), node);
}

function keep({ stays }: Pass, { pod, policy }: Wish, because: Because): void {
  if (stays.length >= MOST_STAYS) return;
  const { namespace, name } = pod.placed.pod;
  stays.push({ pod: `${namespace}/${name}`, node: pod.node.name, policy, because });
}
