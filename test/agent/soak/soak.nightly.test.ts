import { describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#shared/domain/base/durations.ts';
import type { AttemptOutcome } from '#shared/decide/eviction/apply-outcome.ts';
import type { Eviction } from '#shared/decide/eviction/eviction.ts';
import { type AgentPolicy, DEFAULT_POLICY } from '#shared/api/node-pressure-policy/policy.ts';
import type { NodePod } from '#test/agent/node-scene.ts';
import { soakAgent } from './soak-agent.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { beginEpisode, type Episode, EPISODES, type Random } from './soak-episodes.ts';
import { brokenLaws, MemoryRecord } from './soak-laws.ts';
import { SoakNode, type SoakPod } from './soak-node.ts';

const SEED = 20_261_122;
const STEP_MS = 100;
/** The protected ones would go first: lower priority than all others, above their requests. */
const PODS: readonly NodePod[] = [
  { name: 'dns', namespace: 'kube-system', priority: -20, requests: { memory: '100Mi' }, usageMiB: 190 },
  { name: 'critical', priority: 2_000_000_000, requests: { memory: '200Mi' }, usageMiB: 250 },
  {
    name: 'kept',
    priority: -20,
    requests: { memory: '300Mi' },
    usageMiB: 350,
    annotations: { 'plimsoll.dev/evict': 'never' },
  },
  { name: 'logs', requests: { memory: '100Mi' }, usageMiB: 110, owner: 'logs', ownerKind: 'DaemonSet' },
  ...[0, 0, 0, 5, 5, 1000, 1000, -10].map((priority, index) => ({
    name: `work-${index}`,
    priority,
    owner: `work-${index}`,
    requests: { memory: '400Mi' },
    usageMiB: 300 + 20 * index,
  })),
];
/** Those that something may happen to: the agent may evict them. */
const isWork = ({ fields, deletionMs }: SoakPod): boolean => fields.name.startsWith('work') && deletionMs === undefined;

const FAULTS: readonly AttemptOutcome[] = [
  { kind: 'timeout', message: '' },
  { kind: 'serverError', message: '', status: 500 },
  { kind: 'serverError', message: '', status: 503 },
  { kind: 'unreachable', message: '' },
  { kind: 'tooManyRequests', cause: 'throttled', message: '', retryAfterSeconds: 2 },
  { kind: 'tooManyRequests', cause: 'budget', message: '', retryAfterSeconds: undefined },
];

/** What a soak came to: what was broken, and how often each kind of episode was met and cost a pod. */
interface Soaked {
  readonly broken: readonly string[];
  readonly episodes: ReadonlyMap<string, number>;
  readonly evictions: ReadonlyMap<string, number>;
}

class Soak {
  readonly #random: Random;
  readonly #node = new SoakNode(PODS);
  readonly #record = new MemoryRecord();
  readonly #broken: string[] = [];
  readonly #episodes = new Map<string, number>();
  readonly #evictions = new Map<string, number>();
  #episode: Episode | undefined;
  #changesAtMs = MINUTE_MS;

  constructor(random: Random) {
    this.#random = random;
  }

  async run(policy: AgentPolicy, untilMs: number): Promise<Soaked> {
    const answer = (eviction: Eviction, pod: SoakPod): AttemptOutcome => this.#answer(eviction, pod);
    const agent = soakAgent({ node: this.#node, policy, answer });
    const { signal } = new AbortController();
    for (let passAtMs = 0; this.#node.nowMs < untilMs;) {
      if (this.#node.nowMs >= passAtMs) {
        agent.pass(signal);
        await agent.settled();
        passAtMs = this.#node.nowMs + agent.periodMs();
      }
      this.#step(Math.min(STEP_MS, passAtMs - this.#node.nowMs));
    }
    return { broken: this.#broken, episodes: this.#episodes, evictions: this.#evictions };
  }

  #step(ms: number): void {
    const killsBefore = this.#node.oomKills;
    this.#node.advance(ms);
    this.#record.note(this.#node.left());
    if (this.#node.oomKills > killsBefore && this.#episode?.mustBeCaught === true) this.#break('the kernel killed');
    if (this.#node.nowMs >= this.#changesAtMs) this.#change();
  }

  /** A quiet time follows each episode, long enough for the windows of the limits not to end in the next one. */
  #change(): void {
    const random = this.#random;
    if (this.#episode !== undefined) {
      this.#episode.stop();
      this.#episode = undefined;
      this.#changesAtMs = this.#node.nowMs + (5 + random() * 10) * MINUTE_MS;
      return;
    }
    this.#episode = beginEpisode(this.#node, this.#node.present().filter(isWork), random);
    this.#changesAtMs = this.#node.nowMs + this.#episode.lastsMs;
    count(this.#episodes, this.#episode.kind);
  }

  #answer(eviction: Eviction, pod: SoakPod): AttemptOutcome {
    for (const law of brokenLaws(eviction, this.#node.left(), this.#record)) this.#break(`${law}: ${pod.fields.name}`);
    const outcome = this.#outcome();
    // A lost answer may be that of an eviction that was accepted.
    if (outcome.kind === 'evicted' || (outcome.kind === 'timeout' && this.#random() < 0.5)) this.#evict(eviction, pod);
    return outcome;
  }

  #outcome(): AttemptOutcome {
    const isFault = this.#episode?.isApiFaulty === true && this.#random() < 0.6;
    return isFault ? (FAULTS[Math.floor(this.#random() * FAULTS.length)] as AttemptOutcome) : { kind: 'evicted' };
  }

  #evict({ graceSeconds }: Eviction, pod: SoakPod): void {
    const afterMs = graceSeconds <= 1 ? 100 + this.#random() * 300 : this.#random() * graceSeconds * 1000;
    this.#node.end(pod, graceSeconds, afterMs);
    count(this.#evictions, this.#episode?.kind ?? 'calm');
  }

  #break(law: string): void {
    const { memAvailableMiB, kubeletMiB } = this.#node.left();
    const left = `${Math.round(memAvailableMiB)} MiB left, ${Math.round(kubeletMiB)} as the kubelet counts`;
    this.#broken.push(`${this.#node.nowMs} ms, ${this.#episode?.kind ?? 'calm'}: ${law}; ${left}`);
  }
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

/** Those in which memory runs out, so that each costs a pod. */
const COSTLY = EPISODES.filter((kind) => kind.startsWith('leak') || kind === 'sockets');
const SHIPPED: AgentPolicy = { ...DEFAULT_POLICY, mode: 'Enforce' };

describe('hours of mixed episodes with the settings without a policy', () => {
  test('60 hours: no eviction while memory is reclaimable, no avoidable OOM kill, and every reason is true', async () => {
    const { broken, episodes, evictions } = await new Soak(randomSource(SEED).next).run(SHIPPED, 60 * HOUR_MS);
    expect(broken, `seed ${SEED}`).toEqual([]);
    expect(Math.min(...EPISODES.map((kind) => episodes.get(kind) ?? 0)), 'of each kind').toBeGreaterThan(10);
    for (const kind of COSTLY) expect(evictions.get(kind), kind).toBeGreaterThan(10);
    expect(
      [...evictions.keys()].filter((kind) => !COSTLY.includes(kind)),
      'that cost a pod',
    ).toEqual([]);
  });

  test('the kubelet’s figure evicts while memory is reclaimable, so the check above can fail', async () => {
    const byKubelet = { ...SHIPPED, memoryFigure: 'Kubelet' } as const;
    const { broken } = await new Soak(randomSource(SEED).next).run(byKubelet, 4 * HOUR_MS);
    expect(broken.join('\n')).toContain('no pod goes while memory can be had');
  });
});
