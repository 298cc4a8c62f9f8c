import { describe, expect, test } from 'vitest';
import { SYSTEM_CRITICAL_PRIORITY } from '#shared/domain/eviction/protection.ts';
import { resourceOf, type StarvedResource } from '#shared/domain/pressure/signal.ts';
import { type AgentState, FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { applyOutcome, type AttemptOutcome } from '#shared/decide/eviction/apply-outcome.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
import { NO_EVICTIONS, evictionsOf } from '#shared/decide/eviction/history/eviction-state.ts';
import { isOutstanding, type Pace } from '#shared/decide/eviction/history/inflight-eviction.ts';
import { modeOf, type AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { withKeptThresholds } from '#shared/decide/eviction/shortage/rule-activation.ts';
import { type FreshPod, abortReason } from '#shared/decide/eviction/eviction.ts';
import type { NodeSnapshot } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { volume } from '#test/build/volume.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { FuzzedNode, OUTCOMES, pick, type Random } from './fuzzed-node.ts';

const CYCLES = volume(1_000_000);
const CYCLES_PER_NODE = 500;
const SEED = 20_261_121;

type Law = readonly [isKept: boolean, law: string];
type Decision = ReturnType<typeof decide>;
type Evicted = Decision['evictions'][number];

interface Case {
  readonly state: AgentState;
  readonly seen: NodeSnapshot;
  readonly policy: AgentPolicy;
  readonly decision: Decision;
}

const OWN_NAMESPACES = ['kube-system', 'plimsoll-system', 'plimsoll-node'];

function isMirror({ annotations, owners }: Evicted['pod']): boolean {
  return annotations.has('kubernetes.io/config.mirror') && owners.some(({ kind }) => kind === 'Node');
}

function lawsOfProtection({ pod, stage }: Evicted, { seen, policy: { protect } }: Case): readonly Law[] {
  const priority = pod.spec.priority ?? 0;
  // In the severe stage it covers only a pod within its request, which test/agent/laws looks at (docs/contributing/decisions/within-request.md).
  const isOptOutInForce = stage === 'mild' || protect.optOut === 'Always';
  const hasOptedOut = isOptOutInForce && pod.annotations.get('plimsoll.dev/evict') === 'never';
  return [
    [priority < SYSTEM_CRITICAL_PRIORITY, 'no system priority'],
    [!isMirror(pod), 'no static pod'],
    [![...OWN_NAMESPACES, ...protect.namespaces].includes(pod.namespace), 'no protected namespace'],
    [seen.namespaces.get(pod.namespace) === 'open', 'a namespace that is known and open'],
    [!hasOptedOut || priority > protect.optOutCeiling, 'opt-outs up to the ceiling'],
  ];
}

/** CPU is compressible: it costs a pod only where an operator has switched that on twice. */
function lawOfCpu({ mode, signal }: Evicted, { policy }: Case): Law {
  const ofRule = policy.stallRules.find((rule) => rule.signal === 'cpu.pressure')?.mode;
  const isSwitchedOn = policy.mode === 'Enforce' && ofRule === 'Enforce';
  return [mode === 'DryRun' || signal !== 'cpu.pressure' || isSwitchedOn, 'CPU only where mode and cpu.mode enforce'];
}

function lawsOfOne(eviction: Evicted, { state, seen, policy }: Case): readonly Law[] {
  const { pod, graceSeconds, mode, isShortening } = eviction;
  const own = state.evictions[mode].inflight.find(({ uid }) => uid === pod.uid);
  const inForce = withKeptThresholds(policy, state);
  return [
    [seen.pods.aliveByUid.get(pod.uid) === pod, 'the UID judged is one that is there'],
    [isShortening || pod.deletion === undefined, 'only pods that this agent already evicted are requested again'],
    [pod.status.phase !== 'Failed', 'it has not ended'],
    [isShortening || policy.ranking.missingStats !== 'Never' || seen.usage.has(pod.uid), 'no data is not zero'],
    [graceSeconds >= 1, 'never grace 0'],
    [mode === 'DryRun' || modeOf(eviction, inForce) === 'Enforce', 'enforced only where policy and rule both do'],
    [isShortening === (own?.phase === 'ending'), 'no pod is evicted twice, except to terminate sooner'],
    [!isShortening || own?.isShortened === false, 'no pod is asked to terminate sooner twice'],
  ];
}

/** Two of them stop it, in the severe stage four (docs/contributing/decisions/severe-stage.md), or none if the kubelet is ready (docs/contributing/decisions/severe-stage.md). */
function isStuck({ state: { evictions } }: Decision, { stage }: Evicted, { isKubeletReady }: NodeSnapshot): boolean {
  if (stage === 'severe' && isKubeletReady) return false;
  return evictions.Enforce.inflight.filter(({ phase }) => phase === 'stuck').length >= (stage === 'severe' ? 4 : 2);
}

function outstanding({ evictions }: AgentState, pace: Pace, resource: StarvedResource, now: number): number {
  const counted = evictions.Enforce.inflight.filter(({ signal }) => pace === 'mild' || resourceOf(signal) === resource);
  return counted.filter((each) => isOutstanding(each, pace, now)).length;
}

function paceOf({ stage, signal }: Evicted, state: AgentState): Pace {
  return stage === 'severe' && resourceOf(signal) === 'memory' && isNearlyGone(state) ? 'lastChance' : stage;
}

function isNearlyGone({ trend }: AgentState): boolean {
  return trend !== undefined && trend.fillRate * 4000 > trend.available;
}

function isNew({ mode, isShortening }: Evicted): boolean {
  return mode === 'Enforce' && !isShortening;
}

function lawsOfAll({ state, seen, policy, decision }: Case): readonly Law[] {
  const isBlind = seen.readings.memory === undefined || seen.closedGates.length > 0 || seen.doubts.size > 0;
  const memory = decision.evictions.filter(({ signal }) => resourceOf(signal) === 'memory');
  const places = decision.evictions.filter(isNew).map((eviction) => {
    const resource = resourceOf(eviction.signal);
    const pace = paceOf(eviction, decision.state);
    const allowed = Math.max(policy.limits.concurrent, outstanding(state, pace, resource, seen.now));
    return outstanding(decision.state, pace, resource, seen.now) <= allowed;
  });
  return [
    [!places.includes(false), 'no more outstanding than allowed'],
    [!isBlind || memory.length === 0, 'nothing happens blind'],
    [seen.closedGates.length === 0 || decision.evictions.length === 0, 'nothing happens while the agent holds still'],
    [!decision.evictions.some((each) => isNew(each) && isStuck(decision, each, seen)), 'stuck pods stop the agent'],
  ];
}

function lawOfModes({ state, seen, policy, decision }: Case): readonly Law[] {
  const { inflight, past, pauses } = state.evictions.DryRun;
  if (inflight.length + past.length + pauses.size === 0) return [];
  const withoutPretence = { ...state, evictions: { ...state.evictions, DryRun: NO_EVICTIONS.DryRun } };
  const enforced = ({ evictions }: Decision): string =>
    JSON.stringify(
      evictions.filter(({ mode }) => mode === 'Enforce').map(({ pod, graceSeconds }) => [pod.uid, graceSeconds]),
    );
  const isSame = enforced(decide(withoutPretence, seen, policy)) === enforced(decision);
  return [[isSame, 'no dry-run eviction affects an enforced decision']];
}

/** An owner at its hourly limit for this resource keeps its pods, until the kernel would kill before another pass. */
function lawOfOwners({ pod, signal }: Evicted, { state, seen, policy, decision }: Case): Law {
  const [by] = pod.owners.map(({ kind, name }) => `${pod.namespace}/${kind}/${name}`);
  const past = evictionsOf(state.evictions.Enforce.past, resourceOf(signal));
  const lost = past.filter(({ at, owner }) => seen.now - at < 3_600_000 && owner !== undefined && owner === by);
  const yields = policy.perOwnerPerHour > 0 && resourceOf(signal) === 'memory' && isNearlyGone(decision.state);
  return [yields || by === undefined || lost.length < policy.perOwnerPerHour, 'per owner'];
}

/** Every law that one decision could break; empty when it broke none. */
function violations(each: Case): string[] {
  const single = each.decision.evictions.flatMap((eviction) => [
    lawOfCpu(eviction, each),
    ...lawsOfOne(eviction, each),
    ...lawsOfProtection(eviction, each),
  ]);
  const ofOwners = each.decision.evictions.filter(isNew).map((eviction) => lawOfOwners(eviction, each));
  return [...single, ...ofOwners, ...lawsOfAll(each), ...lawOfModes(each)]
    .filter(([isKept]) => !isKept)
    .map(([, law]) => law);
}

/** Budgets hold in every sliding window of the evictions that were accepted under one policy, for each resource. */
function windowViolations(state: AgentState, now: number, policy: AgentPolicy, accepted: readonly Evicted[]): string[] {
  return accepted.flatMap(({ signal, pod, urgency }) => {
    // In the last chance windows allow the pace of the kubelet, one pod in ten seconds; 0 stays 0 (docs/contributing/decisions/within-request.md).
    const least = (limit: number, pace: number): number =>
      urgency === 'LastChance' && limit > 0 ? Math.max(limit, pace) : limit;
    const { perMinute, perTenMinutes, perNamespacePerTenMinutes } = policy.limits;
    const past = evictionsOf(state.evictions.Enforce.past, resourceOf(signal));
    const within = (ms: number): number => past.filter(({ at }) => now - at < ms).length;
    const ofNamespace = past.filter(({ at, namespace }) => now - at < 600_000 && namespace === pod.namespace);
    const laws: readonly Law[] = [
      [within(60_000) <= least(perMinute, 6), 'per minute'],
      [within(600_000) <= least(perTenMinutes, 60), 'per ten minutes'],
      [ofNamespace.length <= least(perNamespacePerTenMinutes, 60), 'per namespace'],
    ];
    return laws.filter(([isKept]) => !isKept).map(([, law]) => law);
  });
}

/** What the preflight lets pass, compared with what it read. */
function lawsOfRecheck(eviction: Evicted, fresh: FreshPod, policy: AgentPolicy): string[] {
  if (fresh.kind !== 'found') return ['no pod is evicted that the API server does not return'];
  const { pod, namespace } = fresh;
  const isOptOutInForce = eviction.stage === 'mild' || policy.protect.optOut === 'Always';
  const stays =
    isOptOutInForce &&
    pod.annotations.get('plimsoll.dev/evict') === 'never' &&
    (pod.spec.priority ?? 0) <= policy.protect.optOutCeiling;
  const laws: readonly Law[] = [
    [pod.uid === eviction.pod.uid, 'the UID judged is the UID found'],
    [eviction.isShortening || pod.deletion === undefined, 'no terminating pod is evicted'],
    [namespace === 'open' && !stays, 'no opt-out is overlooked'],
    [!isMirror(pod), 'no pod that has become static'],
  ];
  return laws.filter(([isKept]) => !isKept).map(([, law]) => law);
}

/** A decision without the functions in it, which no two decisions share. */
function outcomeOf({ state, evictions }: Decision): object {
  return { state, evictions };
}

interface Answer {
  readonly eviction: Evicted;
  readonly outcome: AttemptOutcome;
}

function answer(state: AgentState, node: FuzzedNode, { eviction, outcome }: Answer, now: number): AgentState {
  const { uid } = eviction.pod;
  if (outcome.kind === 'evicted') node.end(uid, eviction.graceSeconds);
  return applyOutcome(state, { uid, mode: eviction.mode }, outcome, now);
}

interface LateAnswer extends Answer {
  readonly dueAt: number;
}

/** How often a run came to what it has laws about: a law of something that never happens proves nothing. */
class Reached {
  enforced = 0;
  pretended = 0;
  forCpu = 0;
  shortened = 0;
  stuck = 0;

  note({ evictions, state }: Decision): void {
    for (const { mode, signal, isShortening } of evictions) {
      if (mode === 'Enforce') this.enforced += 1;
      else this.pretended += 1;
      if (mode === 'Enforce' && signal === 'cpu.pressure') this.forCpu += 1;
      if (isShortening) this.shortened += 1;
    }
    if (state.evictions.Enforce.inflight.some(({ phase }) => phase === 'stuck')) this.stuck += 1;
  }
}

/** One node after the other through its cycles. */
class FuzzedRun {
  readonly #random: Random;
  #node: FuzzedNode;
  #state: AgentState = FIRST_STATE;
  #late: LateAnswer[] = [];
  readonly reached = new Reached();

  constructor(random: Random) {
    this.#random = random;
    this.#node = new FuzzedNode(random);
  }

  /** What the cycle broke. */
  cycle(cycle: number): string[] {
    if (cycle % CYCLES_PER_NODE === 0) this.#nextNode();
    const seen = this.#node.snapshot();
    const { policy } = this.#node;
    const inForce = withKeptThresholds(policy, this.#state);
    const decision = decide(this.#state, seen, policy);
    const broken = violations({ state: this.#state, seen, policy, decision });
    this.#state = decision.state;
    this.reached.note(decision);
    const accepted: Evicted[] = [];
    for (const eviction of decision.evictions) {
      const outcome = this.#outcomeOf(eviction, inForce, seen, broken);
      if (outcome.kind === 'evicted' && !eviction.isShortening) accepted.push(eviction);
      const dueAt = cycle + (this.#random() < 0.1 ? Math.floor(this.#random() * 20) : 0);
      this.#late.push({ eviction, outcome, dueAt });
    }
    this.#answerDue(cycle, seen.now);
    broken.push(...windowViolations(this.#state, seen.now, policy, accepted));
    if (cycle % 1000 === 0) {
      expect(outcomeOf(decide(this.#state, seen, policy))).toEqual(outcomeOf(decide(this.#state, seen, policy)));
    }
    return broken;
  }

  #nextNode(): void {
    this.#node = new FuzzedNode(this.#random);
    this.#state = FIRST_STATE;
    this.#late = [];
  }

  #outcomeOf(eviction: Evicted, policy: AgentPolicy, seen: NodeSnapshot, broken: string[]): AttemptOutcome {
    const fresh = this.#node.readAgain(eviction.pod.uid);
    const refusal = abortReason(eviction, { fresh, view: seen }, policy);
    if (refusal !== undefined) return refusal;
    broken.push(...lawsOfRecheck(eviction, fresh, policy));
    return eviction.mode === 'DryRun' ? { kind: 'pretended' } : pick(this.#random, OUTCOMES);
  }

  /** Most answers arrive at once, some many passes later. */
  #answerDue(cycle: number, now: number): void {
    for (const each of this.#late.filter(({ dueAt }) => dueAt <= cycle))
      this.#state = answer(this.#state, this.#node, each, now);
    this.#late = this.#late.filter(({ dueAt }) => dueAt > cycle);
  }
}

describe(`decide, ${CYCLES} fuzzed cycles`, () => {
  test('breaks no law', () => {
    const run = new FuzzedRun(randomSource(SEED).next);
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      const broken = run.cycle(cycle);
      if (broken.length > 0) expect.fail(`seed ${SEED}, cycle ${cycle}: ${broken.join('; ')}`);
    }
    const { enforced, pretended, forCpu, shortened, stuck } = run.reached;
    expect(Math.min(enforced, pretended, stuck)).toBeGreaterThan(volume(1000));
    expect(Math.min(forCpu, shortened)).toBeGreaterThan(volume(50));
  });
});
