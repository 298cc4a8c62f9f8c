import type { Because } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import { ownerText } from '#shared/domain/pod/pod.ts';
import { FRESH_POLICY, type PastMove } from './memory.ts';
import { REASONS } from './messages.ts';
import type { ReschedulingPass } from './pass.ts';
import { applyMove, type PassNode } from './pass-cluster.ts';
import { losesPreference } from './policies/affinity.ts';
import { evenedOut, loadsOf, yardstickOf } from './load.ts';
import type { MoveCandidate, CandidateGroup } from './policies/move-candidate.ts';
import type { PolicyKind } from './policy.ts';

/** Total number of nodes that a pass examines in its guesses, so that a large cluster does not take too long. */
const MAX_LOOKS = 150_000;
/** Candidates that are compared for one move. */
const MAX_COMPARED = 60;
/** Maximum number of reasons that a pass keeps. */
/** More are counted as considered only. */
export const MAX_STAYS = 2_000;

/** Plans the moves of one policy: the most urgent group first, each move on the result of the earlier ones. */
export function* servePolicy(pass: ReschedulingPass, kind: PolicyKind, groups: readonly CandidateGroup[]): Steps<void> {
  const { rate } = pass.memory.policies.get(kind) ?? FRESH_POLICY;
  const most = Math.min(pass.input.most, pass.moves.length + Math.ceil(pass.input.most * rate));
  const open = new Map<CandidateGroup, readonly MoveCandidate[] | undefined>(groups.map((group) => [group, undefined]));
  while (open.size > 0 && pass.moves.length < most && pass.looks < MAX_LOOKS) {
    const group = mostUrgent(open);
    const candidates = group.urgency() > 0 ? (open.get(group) ?? group.candidates()) : [];
    const rest = yield* moveOne(
      pass,
      candidates.filter((candidate) => candidate.worth() > 0),
    );
    if (rest.length === 0) open.delete(group);
    else open.set(group, rest);
    yield;
  }
  yield* keepRest(pass, open);
}

function mostUrgent(open: ReadonlyMap<CandidateGroup, unknown>): CandidateGroup {
  const [first, ...others] = open.keys() as Iterable<CandidateGroup>;
  return others.reduce((best, each) => (each.urgency() > best.urgency() ? each : best), first as CandidateGroup);
}

/** The rest, once the pass may move no more pods or has examined the maximum number of nodes. */
function* keepRest(
  pass: ReschedulingPass,
  open: ReadonlyMap<CandidateGroup, readonly MoveCandidate[] | undefined>,
): Steps<void> {
  const { most } = pass.input;
  const because = pass.looks >= MAX_LOOKS ? REASONS.notExamined({}) : REASONS.passLimit({ most });
  for (const [group, candidates] of open) {
    if (pass.stays.length >= MAX_STAYS) return;
    const left = group.urgency() > 0 ? (candidates ?? group.candidates()) : [];
    for (const candidate of left) if (candidate.worth() > 0) keep(pass, candidate, because);
    yield;
  }
}

/** Compares the first few candidates of a group and moves the one that gains most; returns the remaining ones. */
function* moveOne(pass: ReschedulingPass, candidates: readonly MoveCandidate[]): Steps<readonly MoveCandidate[]> {
  const left = new Set(candidates);
  const places: FoundPlace[] = [];
  const compared = comparedFor(pass);
  for (const candidate of inOrder(pass, candidates)) {
    if (places.length >= compared || pass.looks >= MAX_LOOKS) break;
    const place = yield* findPlace(pass, candidate);
    yield;
    if (place.kind === 'place') places.push(place);
    else {
      keep(pass, candidate, place.because);
      left.delete(candidate);
    }
  }
  const best = places.reduce<FoundPlace | undefined>(
    (most, each) => (most === undefined || isBetter(pass, each, most) ? each : most),
    undefined,
  );
  if (best !== undefined) {
    carryOut(pass, best);
    left.delete(best.candidate);
  }
  return [...left];
}

/** The larger gain; if equal, the one that evens out the load more. */
function isBetter({ input: { cluster } }: ReschedulingPass, one: FoundPlace, other: FoundPlace): boolean {
  const evened = ({ candidate: { pod }, targets }: FoundPlace): number =>
    evenedOut(cluster, pod.placed, [pod.node, targets[0] as PassNode]);
  return one.gain === other.gain ? evened(one) > evened(other) : one.gain > other.gain;
}

function comparedFor({ input: { cluster, most } }: ReschedulingPass): number {
  const affordable = Math.floor(MAX_LOOKS / (cluster.nodes.length * Math.max(1, most)));
  return Math.min(MAX_COMPARED, Math.max(1, affordable));
}

/** Its value decides first, in steps of a half; then the owner that was disrupted longest ago (S3-8). */
function inOrder({ account }: ReschedulingPass, candidates: readonly MoveCandidate[]): readonly MoveCandidate[] {
  const keyed = candidates.map((candidate) => ({
    candidate,
    worth: Math.round(Math.log2(candidate.worth()) * 2),
    disruptedAt: account.disruptedAt(candidate.pod.owner),
    priority: candidate.pod.placed.priority,
    uid: candidate.pod.placed.pod.uid,
  }));
  keyed.sort(
    (a, b) =>
      b.worth - a.worth || a.disruptedAt - b.disruptedAt || a.priority - b.priority || compareTexts(a.uid, b.uid),
  );
  return keyed.map(({ candidate }) => candidate);
}

interface FoundPlace {
  readonly kind: 'place';
  readonly candidate: MoveCandidate;
  readonly targets: readonly PassNode[];
  /** The smallest gain among the targets. */
  readonly gain: number;
}

type PlaceSearch = FoundPlace | { readonly kind: 'none'; readonly because: Because };

function* findPlace(pass: ReschedulingPass, candidate: MoveCandidate): Steps<PlaceSearch> {
  const held =
    candidate.held ?? whyMoved(pass, candidate) ?? pass.account.holds(candidate.pod) ?? whyNextPass(pass, candidate);
  if (held !== undefined) return { kind: 'none', because: held };
  const { owner, node } = candidate.pod;
  const own = candidate.avoidForMs > 0 && pass.input.canAvoid(node) ? [node.name] : [];
  const avoided = new Set([...pass.input.avoidedBy(owner), ...own]);
  pass.looks += pass.input.cluster.nodes.length;
  const guess = yield* pass.guesser.guess(candidate.pod, avoided);
  if (guess.kind === 'unplaced') return { kind: 'none', because: guess.because };
  for (const target of guess.nodes) {
    const because = whyNotThere(pass, candidate, target);
    if (because !== undefined) return { kind: 'none', because };
  }
  const gain = guess.nodes.reduce((least, target) => Math.min(least, candidate.gainOn(target)), Infinity);
  return { kind: 'place', candidate, targets: guess.nodes, gain };
}

/** A policy, or a snapshot that changes during the pass, may name a pod that another policy has already moved. */
function whyMoved({ arrivals }: ReschedulingPass, { pod: { placed } }: MoveCandidate): Because | undefined {
  const { namespace, name } = placed.pod;
  const isMoved = arrivals.some((each) => each.placed === placed);
  return isMoved ? REASONS.relatedMove({ pod: `${namespace}/${name}` }) : undefined;
}

/**
 * kube-scheduler spreads the pods of an owner. It ignores usage, so a replacement on an unexpected node may do harm;
 * the second move of an owner waits for the next pass.
 */
function whyNextPass({ arrivals, input }: ReschedulingPass, { policy, pod }: MoveCandidate): Because | undefined {
  if (policy !== 'underused' || input.policy.underused?.by !== 'Usage') return undefined;
  const related = arrivals.find(({ placed }) => pod.owner.pods.includes(placed));
  return related && REASONS.relatedMove({ pod: `${related.placed.pod.namespace}/${related.placed.pod.name}` });
}

/** Why a move has no gain if kube-scheduler places the replacement there. */
function whyNotThere({ account }: ReschedulingPass, candidate: MoveCandidate, target: PassNode): Because | undefined {
  const { owner, node, placed } = candidate.pod;
  if (target === node) return REASONS.stayPut({ node: node.name });
  if (target.closed !== undefined) return REASONS.targetClosed({ node: target.name, why: target.closed.text });
  if (account.formerNodesOf(owner).has(target.name)) {
    return REASONS.formerNode({ node: target.name, owner: ownerText(owner.key) });
  }
  const against =
    candidate.reasonAgainst(target) ??
    (candidate.policy === 'underused' ? losesPreference(placed, node, target) : undefined);
  if (against !== undefined) return against;
  const gain = candidate.gainOn(target);
  const least = candidate.leastGain;
  return gain < least ? REASONS.littleGain({ node: target.name, gain, least }) : undefined;
}

function carryOut(pass: ReschedulingPass, { candidate, targets, gain }: FoundPlace): void {
  const { policy, pod, because, avoidForMs, harmed } = candidate;
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

function sourceLoad({ input: { cluster, policy } }: ReschedulingPass, node: PassNode): readonly number[] {
  return policy.underused === undefined ? [] : loadsOf(yardstickOf(cluster, policy.underused), node);
}

function keep({ stays }: ReschedulingPass, { pod, policy, isOptional }: MoveCandidate, because: Because): void {
  if (isOptional === true || stays.length >= MAX_STAYS) return;
  const { namespace, name } = pod.placed.pod;
  stays.push({ pod: `${namespace}/${name}`, node: pod.node.name, policy, because });
}
