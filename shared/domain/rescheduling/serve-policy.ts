import type { Because } from '#shared/domain/model/because.ts';
import type { Steps } from '#shared/domain/model/steps.ts';
import { compareTexts } from '#shared/domain/model/texts.ts';
import { ownerText } from '#shared/domain/pod/pod-owner.ts';
import { FRESH_POLICY, type PastMove } from './memory.ts';
import { REASONS } from './messages.ts';
import type { Pass } from './pass.ts';
import { applyMove, type PassNode } from './pass-cluster.ts';
import { losesPreference } from './policies/affinity.ts';
import { evenedOut, loadsOf, yardstickOf } from './load.ts';
import type { Wish, WishGroup } from './policies/wish.ts';
import type { PolicyKind } from './policy.ts';

/** Total number of nodes that a pass examines in its guesses, so that a large cluster does not take too long. */
const MAX_LOOKS = 150_000;
/** Candidates that are compared for one move. */
const MAX_COMPARED = 60;
/** Maximum number of reasons that a pass keeps. */
const MAX_STAYS = 2_000;

/** Plans the moves of one policy: the most urgent group first, each move on the result of the earlier ones. */
export function* servePolicy(pass: Pass, kind: PolicyKind, groups: readonly WishGroup[]): Steps<void> {
  const { rate } = pass.memory.policies.get(kind) ?? FRESH_POLICY;
  const most = Math.min(pass.input.most, pass.moves.length + Math.ceil(pass.input.most * rate));
  const open = new Map<WishGroup, readonly Wish[] | undefined>(groups.map((group) => [group, undefined]));
  while (open.size > 0 && pass.moves.length < most && pass.looks < MAX_LOOKS) {
    const group = mostUrgent(open);
    const wishes = group.urgency() > 0 ? (open.get(group) ?? group.wishes()) : [];
    const rest = yield* moveOne(
      pass,
      wishes.filter((wish) => wish.worth() > 0),
    );
    if (rest.length === 0) open.delete(group);
    else open.set(group, rest);
    yield;
  }
  yield* keepRest(pass, open);
}

function mostUrgent(open: ReadonlyMap<WishGroup, unknown>): WishGroup {
  const [first, ...others] = open.keys() as Iterable<WishGroup>;
  return others.reduce((best, each) => (each.urgency() > best.urgency() ? each : best), first as WishGroup);
}

/** The rest, once the pass may move no more pods or has examined the maximum number of nodes. */
function* keepRest(pass: Pass, open: ReadonlyMap<WishGroup, readonly Wish[] | undefined>): Steps<void> {
  const { most } = pass.input;
  const because = pass.looks >= MAX_LOOKS ? REASONS.notExamined({}) : REASONS.passLimit({ most });
  for (const [group, wishes] of open) {
    if (pass.stays.length >= MAX_STAYS) return;
    const left = group.urgency() > 0 ? (wishes ?? group.wishes()) : [];
    for (const wish of left) if (wish.worth() > 0) keep(pass, wish, because);
    yield;
  }
}

/** Compares the first few candidates of a group and moves the one that gains most; returns the remaining ones. */
function* moveOne(pass: Pass, wishes: readonly Wish[]): Steps<readonly Wish[]> {
  const left = new Set(wishes);
  const places: Place[] = [];
  const compared = comparedFor(pass);
  for (const wish of inOrder(pass, wishes)) {
    if (places.length >= compared || pass.looks >= MAX_LOOKS) break;
    const place = yield* findPlace(pass, wish);
    yield;
    if (place.kind === 'place') places.push(place);
    else {
      keep(pass, wish, place.because);
      left.delete(wish);
    }
  }
  const best = places.reduce<Place | undefined>(
    (most, each) => (most === undefined || isBetter(pass, each, most) ? each : most),
    undefined,
  );
  if (best !== undefined) {
    carryOut(pass, best);
    left.delete(best.wish);
  }
  return [...left];
}

/** The larger gain; if equal, the one that evens out the load more. */
function isBetter({ input: { cluster } }: Pass, one: Place, other: Place): boolean {
  const evened = ({ wish: { pod }, targets }: Place): number =>
    evenedOut(cluster, pod.placed, [pod.node, targets[0] as PassNode]);
  return one.gain === other.gain ? evened(one) > evened(other) : one.gain > other.gain;
}

function comparedFor({ input: { cluster, most } }: Pass): number {
  const affordable = Math.floor(MAX_LOOKS / (cluster.nodes.length * Math.max(1, most)));
  return Math.min(MAX_COMPARED, Math.max(1, affordable));
}

/** Its value decides first, in steps of a half; then the owner that was disrupted longest ago (S3-8). */
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
  /** The smallest gain among the targets. */
  readonly gain: number;
}

type Finding = Place | { readonly kind: 'none'; readonly because: Because };

function* findPlace(pass: Pass, wish: Wish): Steps<Finding> {
  const held = wish.held ?? whyMoved(pass, wish) ?? pass.account.holds(wish.pod) ?? whyNextPass(pass, wish);
  if (held !== undefined) return { kind: 'none', because: held };
  const { owner, node } = wish.pod;
  const own = wish.avoidForMs > 0 && pass.input.canAvoid(node) ? [node.name] : [];
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

/** A policy, or a snapshot that changes during the pass, may name a pod that another policy has already moved. */
function whyMoved({ arrivals }: Pass, { pod: { placed } }: Wish): Because | undefined {
  const { namespace, name } = placed.pod;
  const isMoved = arrivals.some((each) => each.placed === placed);
  return isMoved ? REASONS.relatedMove({ pod: `${namespace}/${name}` }) : undefined;
}

/**
 * kube-scheduler spreads the pods of an owner. It ignores usage, so a replacement on an unexpected node may do harm;
 * the second move of an owner waits for the next pass.
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
  const { policy, pod, because, avoidForMs, harmed } = wish;
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
    harmed,
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

function keep({ stays }: Pass, { pod, policy, isOptional }: Wish, because: Because): void {
  if (isOptional === true || stays.length >= MAX_STAYS) return;
  const { namespace, name } = pod.placed.pod;
  stays.push({ pod: `${namespace}/${name}`, node: pod.node.name, policy, because });
}
