import { enforceEviction, dryRunEviction, readAgain, readFresh } from '#agent/attempts.ts';
import { isUnclear } from '#shared/decide/eviction/apply-outcome.ts';
import { type ObservedNode, NO_RECLAIM_RATES } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import type { PassResult } from '#shared/decide/eviction/decide.ts';
import { NO_GROUPS } from '#agent/observe/cgroup/pod-rates.ts';
import { slimKnownPod, type KnownPod } from '#agent/observe/api-server/node-pods.ts';
import { createPassRunner, type PassPorts, type PassRunner } from '#agent/pass.ts';
import type { PodUsage, UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { memoryReadings, MIB } from '#test/agent/node-scene.ts';
import { QUIET_PORTS } from '#test/agent/pass-ports.ts';
import type { LawApiServer } from './api-server.ts';
import type { LawNode, LivePod } from './node.ts';
import { EPOCH_MS, podObject } from './pod-object.ts';
import { policyOf } from './policy.ts';
import type { Scenario } from './scenario.ts';

/** Makes an agent that does wrong, to show that a law can fail. */
export type Tamper = (ports: PassPorts, scenario: Scenario) => PassPorts;

interface DecodedPod extends Pick<LivePod, 'deletion' | 'isEvictedByKubelet'> {
  readonly known: readonly KnownPod[];
}

/** The agent's own passes and shells on the node of an episode. */
export class LawAgent {
  readonly #node: LawNode;
  readonly #api: LawApiServer;
  readonly #runner: PassRunner;
  readonly #signal = new AbortController().signal;
  #nextMs = 0;
  #known: readonly KnownPod[] = [];
  readonly #decodedPods = new Map<string, DecodedPod>();
  #version = -1;
  #changed = (): void => undefined;

  constructor(node: LawNode, api: LawApiServer, tamper: Tamper = (ports) => ports) {
    this.#node = node;
    this.#api = api;
    this.#runner = createPassRunner(tamper(this.#ports(), node.scenario));
  }

  /** Runs a pass if one is due. */
  tick(): PassResult | undefined {
    if (this.#node.nowMs < this.#nextMs) return undefined;
    this.#watch();
    const result = this.#runner.pass(this.#signal);
    this.#nextMs = this.#node.nowMs + this.#runner.periodMs();
    return result;
  }

  #watch(): void {
    if (this.#version === this.#node.version || this.#api.fault('watchStalls') !== undefined) return;
    this.#version = this.#node.version;
    this.#known = this.#node.present().flatMap((pod) => this.#decoded(pod));
    this.#changed();
  }

  /** A pod changes only when it is deleted or evicted by the kubelet; decoding it is most of what an episode costs. */
  #decoded(pod: LivePod): readonly KnownPod[] {
    const { deletion, isEvictedByKubelet } = pod;
    const before = this.#decodedPods.get(pod.uid);
    if (before?.deletion === deletion && before?.isEvictedByKubelet === isEvictedByKubelet) return before.known;
    const known = [slimKnownPod(podObject(pod, this.#node.nowMs)) ?? []].flat();
    this.#decodedPods.set(pod.uid, { deletion, isEvictedByKubelet, known });
    return known;
  }

  #ports(): PassPorts {
    const { client } = this.#api;
    const policy = policyOf(this.#node.scenario.policy);
    const clock = this.#clock();
    const namespaces = new Map(['a', 'b', 'kube-system'].map((name) => [name, 'open' as const]));
    return {
      ...QUIET_PORTS,
      periods: { ...QUIET_PORTS.periods, nearMs: this.#node.scenario.nearMs },
      source: this.#source(),
      pods: {
        alive: () => this.#ofKind('alive'),
        endedByKubelet: () => this.#ofKind('endedByKubelet'),
        unreadable: () => this.#ofKind('unreadable').map(({ message }) => message),
        onChange: (listener) => void (this.#changed = listener),
      },
      hasMemoryPressure: () => this.#node.hasMemoryPressure,
      namespaces: () => namespaces,
      policy: () => policy,
      requested: ({ pod: { uid } }) => this.#requested(uid),
      answered: ({ eviction: { pod }, outcome }) => {
        if (!isUnclear(outcome)) this.#node.pending.delete(pod.uid);
      },
      readFresh: readFresh(client, clock),
      attempt: { Enforce: enforceEviction(client), DryRun: dryRunEviction(client) },
      readAgain: (eviction, signal) => readAgain(client, eviction, clock, signal),
      clock,
    };
  }

  #requested(uid: string): void {
    this.#node.pending.add(uid);
    this.#node.attemptedAtMs.set(uid, this.#node.nowMs);
  }

  #ofKind<K extends KnownPod['kind']>(kind: K): readonly Extract<KnownPod, { readonly kind: K }>[] {
    return this.#known.filter((each): each is Extract<KnownPod, { readonly kind: K }> => each.kind === kind);
  }

  #clock(): Clock {
    return {
      now: () => EPOCH_MS + this.#node.nowMs,
      monotonic: () => this.#node.nowMs,
      sleep: (ms) => this.#api.after(ms),
    };
  }

  #source(): PassPorts['source'] {
    return {
      kind: 'kernel',
      readNode: () => this.#view(),
      follow: () => undefined,
      usage: () => this.#usage(),
      podPressures: () => new Map(),
      containers: () => [],
      whyUnmeasured: () => undefined,
      groups: () => NO_GROUPS,
      fallback: () => undefined,
      health: () => [],
      run: () => Promise.resolve(),
      close: () => undefined,
    };
  }

  #view(): ObservedNode {
    const { nowMs, oomKills, scenario } = this.#node;
    const readings = memoryReadings(Math.max(0, this.#node.availableMiB()), scenario.capacityMiB, nowMs);
    return { readings, reclaimable: readings, stalls: [], cpu: undefined, reclaim: NO_RECLAIM_RATES, oomKills };
  }

  #usage(): UsageByUid {
    const { nowMs } = this.#node;
    const running = this.#node.pods.filter(({ endsAtMs, spec }) => nowMs < endsAtMs && spec.isMeasured);
    return new Map(running.map((pod) => [pod.uid, usageOf(pod, nowMs)]));
  }
}

function usageOf({ uid, usedMiB }: LivePod, at: number): PodUsage {
  const workingSetBytes = Math.round(usedMiB * MIB);
  return {
    uid,
    memory: { at, workingSetBytes },
    processCount: undefined,
    cpuNanoCores: undefined,
    ioBytesPerSecond: undefined,
    ephemeralStorageBytes: undefined,
    containers: [],
    volumes: [],
  };
}
