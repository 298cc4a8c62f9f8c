import { SECOND_MS } from '#shared/domain/base/durations.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import type { Eviction } from '#shared/decide/eviction/eviction.ts';
import { MIB } from '#test/agent/node-scene.ts';
import { CAPACITY_MIB, type MemoryLeft } from './soak-node.ts';

/** What the settings without a policy ask for, in MiB of this node; counted here anew. */
const HARD_MIB = 250;
const SOFT_MIB = CAPACITY_MIB * 0.05;
const STALL_MIB = CAPACITY_MIB * 0.1;
const GRACE_MS = 30_000;
/** Time between two passes far from every threshold, and the pass that observes the end of a relief. */
const LOOK_MS = 1100;
const CRITICAL = 2_000_000_000;

/** The raw figures of the last half minute and a little more. */
export class MemoryRecord {
  #samples: readonly MemoryLeft[] = [];

  note(left: MemoryLeft): void {
    this.#samples = [...this.#samples.filter(({ atMs }) => left.atMs - atMs <= GRACE_MS + LOOK_MS), left];
  }

  since(atMs: number): readonly MemoryLeft[] {
    return this.#samples.filter((sample) => sample.atMs >= atMs);
  }
}

/** What an eviction that is sent now breaks, by the raw figures alone; empty when it breaks nothing. */
export function brokenLaws(eviction: Eviction, left: MemoryLeft, record: MemoryRecord): readonly string[] {
  const { pod, stage } = eviction;
  // In the severe stage a wish covers only a pod within its request, which test/agent/laws looks at (docs/contributing/decisions/within-request.md).
  const asksToStay = stage === 'mild' && pod.annotations.get('plimsoll.dev/evict') === 'never';
  const laws: readonly (readonly [isKept: boolean, law: string])[] = [
    [pod.namespace !== 'kube-system' && (pod.spec.priority ?? 0) < CRITICAL, 'no protected pod goes'],
    [!asksToStay, 'no pod goes that asked to stay'],
    [isShort(eviction, left, record), 'no pod goes while memory can be had'],
    [isTold(eviction, left, record), 'the reason states what was available'],
  ];
  return laws.filter(([isKept]) => !isKept).map(([, law]) => law);
}

function isShort({ because, signal }: Eviction, left: MemoryLeft, record: MemoryRecord): boolean {
  if (signal === 'memory.pressure') return left.memAvailableMiB < STALL_MIB;
  if (because.code === 'HardThresholdMet') return left.memAvailableMiB < HARD_MIB;
  return because.code === 'SoftThresholdMet' && lastsFor(GRACE_MS, left, record);
}

/** Below the soft threshold, without a relief of more than a second (and one pass) in between. */
function lastsFor(ms: number, { atMs }: MemoryLeft, record: MemoryRecord): boolean {
  let shortAtMs = Number.NEGATIVE_INFINITY;
  for (const sample of record.since(atMs - ms)) {
    if (sample.memAvailableMiB < SOFT_MIB) shortAtMs = sample.atMs;
    else if (sample.atMs - shortAtMs > SECOND_MS + LOOK_MS && sample.atMs - (atMs - ms) > SECOND_MS + LOOK_MS)
      return false;
  }
  return atMs - shortAtMs <= SECOND_MS + LOOK_MS;
}

/** The figure in the message is one that was there a moment ago. */
function isTold({ observed }: Eviction, { atMs }: MemoryLeft, record: MemoryRecord): boolean {
  if (observed === undefined) return false;
  const toldMiB = quantityNumber(observed.available) / MIB;
  const seen = record.since(atMs - SECOND_MS - LOOK_MS).map(({ memAvailableMiB }) => Math.max(0, memAvailableMiB));
  return toldMiB >= Math.min(...seen) - 1 && toldMiB <= Math.max(...seen) + 1;
}
