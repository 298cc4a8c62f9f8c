import { describe, expect, test } from 'vitest';
import { SYSTEM_CRITICAL_PRIORITY } from '#shared/domain/eviction/protection.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import { type AgentState, FIRST_STATE } from '#agent/decide/agent-state.ts';
import { applyOutcome, type AttemptOutcome } from '#agent/decide/apply-outcome.ts';
import { decide } from '#agent/decide/decide.ts';
import { isOutstanding } from '#agent/decide/flight.ts';
import type { Look } from '#agent/decide/look.ts';
import { type AgentPolicy, DEFAULT_POLICY } from '#agent/policy/policy.ts';
import { look, type NodePod } from '#test/agent/node-scene.ts';

const CYCLES = 1_000_000;
const CYCLES_PER_NODE = 500;
const SEED = 20_261_121;

type Random = () => number;

/** mulberry32: small, seeded, and good enough to vary a scene. */
function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function pick<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T;
}

const PRIORITIES = [-1, 0, 0, 5, 1000, 1_000_000, 1_000_001, SYSTEM_CRITICAL_PRIORITY, 2_147_483_647];
const NAMESPACES = ['a', 'b', 'ignored', 'unknown', 'kube-system', 'plimsoll-system', 'plimsoll-node'];
const ANNOTATIONS: readonly Record<string, string>[] = [
  {},
  {},
  {},
  { 'plimsoll.dev/evict': 'never' },
  { 'plimsoll.dev/evict': 'last' },
  { 'kubernetes.io/config.mirror': '' },
  { 'kubernetes.io/config.source': 'file' },
];
const EVICTED = [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }];

function randomPod(random: Random, index: number, incarnation: number): NodePod {
  const usage = random() < 0.1 ? {} : { usageMiB: Math.floor(random() * 300) };
  return {
    name: `p${index}`,
    uid: `p${index}-${incarnation}`,
    namespace: pick(random, NAMESPACES),
    priority: pick(random, PRIORITIES),
    requests: random() < 0.3 ? {} : { memory: `${Math.floor(random() * 200)}Mi` },
    annotations: pick(random, ANNOTATIONS),
    ...(random() < 0.7
      ? { owner: `o${Math.floor(random() * 3)}`, ownerKind: pick(random, ['ReplicaSet', 'DaemonSet']) }
      : {}),
    ...(random() < 0.05 ? { phase: pick(random, ['Failed', 'Succeeded', 'Pending']) } : {}),
    ...(random() < 0.05 ? { deletion: { at: 0, gracePeriodSeconds: pick(random, [undefined, 0, 1, 30, 3600]) } } : {}),
    ...usage,
  };
}

function randomPolicy(random: Random): AgentPolicy {
  const count = (): number => pick(random, [0, 1, 1, 2, 3, 8]);
  const parsed = parseThresholds({
    evictionHard: { 'memory.available': pick(random, ['50Mi', '100Mi', '30%', '100%']) },
    evictionSoft: { 'memory.available': pick(random, ['200Mi', '40%']) },
    evictionSoftGracePeriod: { 'memory.available': pick(random, ['0s', '1s', '30s']) },
    evictionMinimumReclaim: random() < 0.3 ? { 'memory.available': '50Mi' } : {},
  });
  return {
    ...DEFAULT_POLICY,
    mode: pick(random, ['DryRun', 'Enforce', 'Enforce']),
    thresholds: parsed.ok ? parsed.thresholds : [],
    limits: { concurrent: count(), perMinute: count(), perTenMinutes: count(), perNamespacePerTenMinutes: count() },
    ranking: {
      ranking: pick(random, ['Kubernetes', 'ShareOfRequest', { keys: ['qos', 'runTime'] }]),
      missingStats: pick(random, ['Never', 'Last', 'First']),
      daemonSets: pick(random, ['Last', 'Rank']),
    },
    protect: {
      namespaces: random() < 0.2 ? ['b'] : [],
      optOutCeiling: pick(random, [-10, 1000, 1_000_000]),
      withinRequest: random() < 0.3,
    },
  };
}

const OUTCOMES: readonly AttemptOutcome[] = [
  { kind: 'evicted' },
  { kind: 'evicted' },
  { kind: 'evicted' },
  { kind: 'tooManyRequests', cause: 'budget', message: '', retryAfterSeconds: undefined },
  { kind: 'tooManyRequests', cause: 'throttled', message: '', retryAfterSeconds: 3 },
  { kind: 'notFound', message: '' },
  { kind: 'uidMismatch', message: '' },
  { kind: 'forbidden', message: '' },
  { kind: 'severalBudgets', message: '' },
  { kind: 'timeout', message: '' },
  { kind: 'overtaken', message: '' },
];

/** A node that lives on its own: pods come, grow, end and come back under the same name with another UID. */
class FuzzedNode {
  readonly #random: Random;
  #now = 0;
  #pods: NodePod[];
  #incarnation = 0;
  #available = 500;
  policy: AgentPolicy;

  constructor(random: Random) {
    this.#random = random;
    this.#pods = Array.from({ length: 2 + Math.floor(random() * 6) }, (_, index) => randomPod(random, index, 0));
    this.policy = randomPolicy(random);
  }

  /** Time mostly moves on, stands still now and then, jumps sometimes; it is monotonic, so it never goes back. */
  look(): Look {
    const random = this.#random;
    this.#now += pick(random, [0, 100, 100, 1000, 10_000, random() < 0.02 ? 3_600_000 : 100]);
    this.#available = Math.max(0, Math.min(1000, this.#available + (random() - 0.55) * 200));
    if (random() < 0.1) this.#replaceOne();
    if (random() < 0.02) this.policy = randomPolicy(random);
    const base = look({
      now: this.#now,
      availableMiB: random() < 0.05 ? undefined : Math.floor(this.#available),
      pods: this.#pods,
    });
    const namespaces = new Map([...base.namespaces].filter(([name]) => name !== 'unknown'));
    if (namespaces.has('ignored')) namespaces.set('ignored', 'ignored');
    const doubt = { code: 'SourcesDisagree', text: '', facts: {} };
    return {
      ...base,
      namespaces,
      doubts: new Map(random() < 0.05 ? [['memory.available', doubt]] : []),
      holds: random() < 0.05 ? [{ code: 'WarmingUp', text: '', facts: {} }] : [],
    };
  }

  end(uid: string): void {
    const index = this.#pods.findIndex((pod) => pod.uid === uid);
    const pod = this.#pods[index];
    if (pod !== undefined)
      this.#pods[index] = { ...pod, conditions: EVICTED, deletion: { at: 0, gracePeriodSeconds: 1 } };
  }

  #replaceOne(): void {
    const index = Math.floor(this.#random() * this.#pods.length);
    this.#incarnation += 1;
    this.#pods[index] = randomPod(this.#random, index, this.#incarnation);
  }
}

type Law = readonly [isKept: boolean, law: string];
type Decision = ReturnType<typeof decide>;

interface Case {
  readonly state: AgentState;
  readonly seen: Look;
  readonly policy: AgentPolicy;
  readonly decision: Decision;
}

const OWN_NAMESPACES = ['kube-system', 'plimsoll-system', 'plimsoll-node'];
const STATIC_MARKS = ['kubernetes.io/config.mirror', 'kubernetes.io/config.source'];

function lawsOfProtection({ pod }: Decision['evictions'][number], { seen, policy: { protect } }: Case): readonly Law[] {
  const priority = pod.spec.priority ?? 0;
  const wantsToStay = pod.annotations.get('plimsoll.dev/evict') === 'never';
  return [
    [priority < SYSTEM_CRITICAL_PRIORITY, 'no system priority'],
    [!STATIC_MARKS.some((mark) => pod.annotations.has(mark)), 'no static pod'],
    [![...OWN_NAMESPACES, ...protect.namespaces].includes(pod.namespace), 'no protected namespace'],
    [seen.namespaces.get(pod.namespace) === 'open', 'a namespace that is known and open'],
    [!wantsToStay || priority > protect.optOutCeiling, 'opt-outs up to the ceiling'],
  ];
}

function lawsOfOne(eviction: Decision['evictions'][number], { state, seen, policy }: Case): readonly Law[] {
  const { pod, graceSeconds, mode } = eviction;
  return [
    [seen.pods.aliveByUid.get(pod.uid) === pod, 'the UID judged is one that is there'],
    [pod.deletion === undefined && pod.status.phase !== 'Failed', 'it runs and is not on its way out'],
    [policy.ranking.missingStats !== 'Never' || seen.usage.has(pod.uid), 'no data is not zero'],
    [graceSeconds >= 1, 'never grace 0'],
    [mode === policy.mode, 'the mode of the policy'],
    [state.flights.every(({ uid, phase }) => uid !== pod.uid || phase === 'pretended'), 'nobody is asked to go twice'],
  ];
}

function outstanding({ flights }: AgentState, now: number): number {
  return flights.filter((flight) => !flight.wasAdopted && isOutstanding(flight, now)).length;
}

function lawsOfAll({ state, seen, policy, decision }: Case): readonly Law[] {
  const isBlind = seen.readings.memory === undefined || seen.holds.length > 0 || seen.doubts.size > 0;
  const allowed = Math.max(policy.limits.concurrent, outstanding(state, seen.now));
  return [
    [outstanding(decision.state, seen.now) <= allowed, 'no more outstanding than allowed'],
    [!isBlind || decision.evictions.length === 0, 'nothing happens blind'],
  ];
}

/** Every law that one decision could break; empty when it broke none. */
function violations(each: Case): string[] {
  const single = each.decision.evictions.flatMap((eviction) => [
    ...lawsOfOne(eviction, each),
    ...lawsOfProtection(eviction, each),
  ]);
  return [...single, ...lawsOfAll(each)].filter(([isKept]) => !isKept).map(([, law]) => law);
}

/** Budgets hold in every sliding window of the evictions that were accepted under one policy. */
function windowViolations(state: AgentState, now: number, policy: AgentPolicy, accepted: number): string[] {
  const within = (ms: number): number => state.past.filter(({ at }) => now - at < ms).length;
  const broken: string[] = [];
  if (accepted > 0 && within(60_000) > policy.limits.perMinute) broken.push('per minute');
  if (accepted > 0 && within(600_000) > policy.limits.perTenMinutes) broken.push('per ten minutes');
  return broken;
}

/** A decision without the functions in it, which no two decisions share. */
function told({ state, evictions }: Decision): object {
  return { state, evictions };
}

describe('decide, one million fuzzed cycles', () => {
  test('breaks no law (G-04, G-05, G-07)', () => {
    const random = seeded(SEED);
    let evictions = 0;
    let node = new FuzzedNode(random);
    let state: AgentState = FIRST_STATE;
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      if (cycle % CYCLES_PER_NODE === 0) {
        node = new FuzzedNode(random);
        state = FIRST_STATE;
      }
      const seen = node.look();
      const policy = node.policy;
      const decision = decide(state, seen, policy);
      const broken = violations({ state, seen, policy, decision });
      state = decision.state;
      evictions += decision.evictions.length;
      let accepted = 0;
      for (const { pod, mode } of decision.evictions) {
        const outcome: AttemptOutcome = mode === 'DryRun' ? { kind: 'pretended' } : pick(random, OUTCOMES);
        state = applyOutcome(state, pod.uid, outcome, seen.now);
        if (outcome.kind === 'evicted') node.end(pod.uid);
        if (outcome.kind === 'evicted' || outcome.kind === 'pretended') accepted += 1;
      }
      broken.push(...windowViolations(state, seen.now, policy, accepted));
      if (broken.length > 0) expect.fail(`seed ${SEED}, cycle ${cycle}: ${broken.join('; ')}`);
      if (cycle % 1000 === 0) expect(told(decide(state, seen, policy))).toEqual(told(decide(state, seen, policy)));
    }
    // A run in which nobody was ever evicted would prove nothing.
    expect(evictions).toBeGreaterThan(1000);
  });
});
