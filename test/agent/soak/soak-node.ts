import type { ObservedNode } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { STILL_WINDOW_MS } from '#shared/api/node-pressure-policy/policy.ts';
import { snapshot, memoryReadings, MIB, type NodePod } from '#test/agent/node-scene.ts';

/** A pod of the simulated node with what it uses, in MiB. */
export interface SoakPod {
  readonly fields: NodePod;
  readonly uid: string;
  readonly usualMiB: number;
  anonMiB: number;
  /** Page cache that it would fill; it gets what is left. */
  cacheMiB: number;
  /** Kernel memory that is charged to no pod. */
  heldMiB: number;
  /** MiB a second, of its own memory and of the kernel's. */
  growsMiB: number;
  heldGrowsMiB: number;
  deletionMs: number | undefined;
  graceSeconds: number;
  /** When its processes end. */
  endsAtMs: number;
}

/** What is left, in MiB: for processes, and as the kubelet counts. */
export interface MemoryLeft {
  readonly atMs: number;
  readonly memAvailableMiB: number;
  readonly kubeletMiB: number;
}

export const CAPACITY_MIB = 8192;
const SYSTEM_MIB = 500;
/** The kernel keeps this for itself. */
const WATERMARK_MIB = 64;
/** The kernel searches in vain where less is left. */
const HARD_SEARCH_MIB = 150;
const GONE_AFTER_MS = 1000;
const BACK_AFTER_MS = 5000;
/** How fast a pod takes what it usually uses, once it is made again; in MiB a second. */
const STARTS_MIB = 50;
const NEVER = Number.POSITIVE_INFINITY;

/** A node of 8 GiB whose pods take memory and give it back; evicted pods end and are made again by their controllers. */
export class SoakNode {
  nowMs = 0;
  oomKills = 0;
  /** Whether all tasks wait and the kernel searches for pages, though there are gigabytes. */
  isThrashing = false;
  pods: readonly SoakPod[];
  #incarnation = 0;

  constructor(fields: readonly NodePod[]) {
    this.pods = fields.map((each) => this.#born(each, each.usageMiB ?? 0));
  }

  advance(ms: number): void {
    this.nowMs += ms;
    for (const pod of this.pods) this.#grow(pod, ms / 1000);
    this.pods = this.pods.map((pod) => (this.nowMs >= pod.endsAtMs + BACK_AFTER_MS ? this.#born(pod.fields, 0) : pod));
    while (this.left().memAvailableMiB <= 0) this.#killLargest();
  }

  /** Of those whose objects are there. */
  present(): readonly SoakPod[] {
    return this.pods.filter(({ endsAtMs }) => this.nowMs < endsAtMs + GONE_AFTER_MS);
  }

  find(uid: string): SoakPod | undefined {
    return this.present().find((pod) => pod.uid === uid);
  }

  end(pod: SoakPod, graceSeconds: number, afterMs: number): void {
    pod.deletionMs ??= this.nowMs;
    pod.graceSeconds = graceSeconds;
    pod.endsAtMs = Math.min(pod.endsAtMs, this.nowMs + afterMs);
  }

  left(): MemoryLeft {
    const anonMiB = this.#sum(({ anonMiB: own }) => own);
    const heldMiB = this.#sum(({ heldMiB: own }) => own);
    const room = CAPACITY_MIB - SYSTEM_MIB - anonMiB;
    return {
      atMs: this.nowMs,
      memAvailableMiB: room - heldMiB - WATERMARK_MIB,
      kubeletMiB: room - this.#sum(({ cacheMiB }) => cacheMiB) * this.#cachedShare(),
    };
  }

  view(): ObservedNode {
    const { memAvailableMiB, kubeletMiB } = this.left();
    const isShort = memAvailableMiB < HARD_SEARCH_MIB;
    const isSearched = isShort || this.isThrashing;
    const scanned = isSearched ? 1024 * MIB : 0;
    return {
      readings: memoryReadings(Math.floor(kubeletMiB), CAPACITY_MIB, this.nowMs),
      reclaimable: memoryReadings(Math.max(0, Math.floor(memAvailableMiB)), CAPACITY_MIB, this.nowMs),
      stalls: isSearched ? STALLS : [],
      cpu: undefined,
      reclaim: { scanned, stolen: scanned / 2, refaulted: 0, swappedIn: 0 },
      oomKills: this.oomKills,
    };
  }

  usage(): UsageByUid {
    return snapshot({ now: this.nowMs, pods: this.present().map((pod) => this.asNodePod(pod)) }).usage;
  }

  asNodePod(pod: SoakPod): NodePod {
    const { fields, uid, deletionMs, graceSeconds } = pod;
    const deletion = deletionMs === undefined ? {} : { deletion: { at: 0, gracePeriodSeconds: graceSeconds } };
    const usageMiB = Math.round(pod.anonMiB + pod.cacheMiB * this.#cachedShare());
    return { ...fields, uid, usageMiB, ...deletion };
  }

  #cachedShare(): number {
    const wanted = this.#sum(({ cacheMiB }) => cacheMiB);
    const room = CAPACITY_MIB - SYSTEM_MIB - WATERMARK_MIB - this.#sum((pod) => pod.anonMiB + pod.heldMiB);
    return wanted === 0 ? 0 : Math.max(0, Math.min(1, room / wanted));
  }

  #sum(figure: (pod: SoakPod) => number): number {
    return this.pods.reduce((sum, pod) => sum + figure(pod), 0);
  }

  #grow(pod: SoakPod, seconds: number): void {
    if (this.nowMs >= pod.endsAtMs) {
      Object.assign(pod, { anonMiB: 0, cacheMiB: 0, heldMiB: 0, growsMiB: 0, heldGrowsMiB: 0 });
      return;
    }
    const missingMiB = Math.max(0, pod.usualMiB - pod.anonMiB);
    pod.anonMiB += Math.min(missingMiB, STARTS_MIB * seconds) + pod.growsMiB * seconds;
    pod.heldMiB += pod.heldGrowsMiB * seconds;
  }

  #born(fields: NodePod, anonMiB: number): SoakPod {
    this.#incarnation += 1;
    const usualMiB = fields.usageMiB ?? 0;
    const uid = `${fields.name}-${this.#incarnation}`;
    const nothing = { cacheMiB: 0, heldMiB: 0, growsMiB: 0, heldGrowsMiB: 0, graceSeconds: 0 };
    return { fields, uid, usualMiB, anonMiB, ...nothing, deletionMs: undefined, endsAtMs: NEVER };
  }

  #killLargest(): void {
    const largest = this.pods.toSorted((a, b) => b.anonMiB + b.heldMiB - a.anonMiB - a.heldMiB)[0];
    if (largest === undefined) throw new Error('there is no pod to kill');
    this.oomKills += 1;
    Object.assign(largest, { anonMiB: largest.usualMiB, heldMiB: 0, growsMiB: 0, heldGrowsMiB: 0 });
  }
}

const STALLS: ObservedNode['stalls'] = [STILL_WINDOW_MS, 10_000, 60_000].map((windowMs) => ({
  signal: 'memory.pressure',
  share: 'full',
  windowMs,
  ratio: 0.9,
}));
