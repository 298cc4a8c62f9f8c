import type { ContainerUsage, PodUsage, UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { KubeletAddress } from '#agent/observe/kubelet-summary.ts';
import { askSummary } from '#agent/observe/summary-node.ts';
import { compareOpinion, comparePods, type Verdict } from './compare-opinion.ts';
import type { Questioned, ReadOwn } from './questioned.ts';

export interface KubeletQuestion {
  readonly kubelet: KubeletAddress;
  /** The memory signal over the last seconds: the kubelet's own figure of the node may be that old. */
  readonly signal: ReadOwn;
  /** What the pods use, read from their groups at this moment. */
  readonly pods: () => UsageByUid;
  readonly toleranceShare: number;
}

const NAME = 'kubelet-summary';
const DEADLINE_MS = 5000;

/**
 * The kubelet's summary against the kernel: the node's memory, and what the pods use. Of a pod its containers are summed
 * up, because they are current while its own entry is up to 16 s old (real-kubernetes.md 5.9).
 */
export function questionKubelet({ kubelet, signal, pods, toleranceShare }: KubeletQuestion): Questioned {
  async function question(): Promise<Verdict> {
    const before = pods();
    const { summary } = await askSummary(kubelet, AbortSignal.timeout(DEADLINE_MS));
    const after = pods();
    const own = signal();
    if (own === undefined) throw new Error('there is no reading of our own to compare with');
    const { availableBytes = Number.NaN, workingSetBytes = Number.NaN } = summary.readings.memory ?? {};
    const opinion = { totalBytes: availableBytes + workingSetBytes, availableBytes };
    const verdict = compareOpinion(NAME, opinion, own, toleranceShare);
    if (verdict.kind !== 'agrees') return verdict;
    return comparePods(NAME, sumOfPods(summary.pods, before, after), own.totalBytes * toleranceShare);
  }
  return { name: NAME, question };
}

/** Bytes that the pods which both sides know use, by them and by us. */
function sumOfPods(told: readonly PodUsage[], before: UsageByUid, after: UsageByUid) {
  const sums = { pods: 0, theirsBytes: 0, lowBytes: 0, highBytes: 0 };
  for (const { uid, containers } of told) {
    const theirs = sumOfContainers(containers);
    const [first, last] = [bytesOf(before.get(uid)), bytesOf(after.get(uid))];
    if (theirs === undefined || first === undefined || last === undefined) continue;
    sums.pods += 1;
    sums.theirsBytes += theirs;
    sums.lowBytes += Math.min(first, last);
    sums.highBytes += Math.max(first, last);
  }
  return sums;
}

function bytesOf(usage: PodUsage | undefined): number | undefined {
  return usage?.memory?.workingSetBytes;
}

/** `undefined` as soon as one container has no figure. */
function sumOfContainers(containers: readonly ContainerUsage[]): number | undefined {
  let sum = 0;
  for (const { workingSetBytes } of containers) {
    if (workingSetBytes === undefined) return undefined;
    sum += workingSetBytes;
  }
  return sum;
}
