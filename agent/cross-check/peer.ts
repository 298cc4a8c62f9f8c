import type { AskSecondOpinion } from '#agent/observe/node/second-opinions.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { KubeletAddress } from '#agent/observe/kubelet/kubelet-summary.ts';
import { askSummary } from '#agent/observe/kubelet/summary-node.ts';
import { type SourceOpinion, compareOpinion, comparePods } from './compare-opinion.ts';
import type { OwnFigures, OwnReading } from './own-figures.ts';

/** Another source for a value that the agent reads itself. */
export interface Peer {
  readonly name: string;
  /** Reads and compares once; rejects if the source could not be read. */
  readonly query: () => Promise<SourceOpinion>;
}

/** The agent's own reading now; `undefined` if there is none. */
export type ReadOwn = () => OwnReading | undefined;

/**
 * Compares the node's memory; the agent's own reading is taken before and after, because it changes while the peer
 * answers.
 */
export function memoryPeer(name: string, ask: AskSecondOpinion, own: ReadOwn, toleranceShare: number): Peer {
  return {
    name,
    query: async () => {
      const before = own();
      const opinion = await ask();
      const after = own();
      if (before === undefined || after === undefined)
        throw new Error('the agent has no reading of its own to compare');
      return { verdict: compareOpinion(name, opinion, spanning(before, after), toleranceShare) };
    },
  };
}

/** The peer read its value at some time between the two. */
function spanning(before: OwnReading, after: OwnReading): OwnReading {
  return {
    totalBytes: after.totalBytes,
    lowBytes: Math.min(before.lowBytes, after.lowBytes),
    highBytes: Math.max(before.highBytes, after.highBytes),
  };
}

export interface KubeletPeerOptions {
  readonly kubelet: KubeletAddress;
  /** The kubelet's figures are some seconds old. */
  readonly figures: Pick<OwnFigures, 'memory' | 'pods'>;
  /** Pod usage, read from their cgroups now. */
  readonly pods: () => UsageByUid;
  readonly toleranceShare: number;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

const NAME = 'kubelet-summary';
const DEADLINE_MS = 5000;

/**
 * Compares the kubelet's summary with the kernel: the node's memory, and each pod's own entry, which is up to 20 s old
 * and has a timestamp. Container entries are newer, but their sum is less than the pod if memory outlives a container
 * (data in a memory-backed emptyDir), and differs if they are measured inside a virtual machine.
 */
export function kubeletPeer(asked: KubeletPeerOptions): Peer {
  return { name: NAME, query: () => query(asked) };
}

async function query({ kubelet, ...asked }: KubeletPeerOptions): Promise<SourceOpinion> {
  const { summary } = await askSummary(kubelet, AbortSignal.timeout(DEADLINE_MS));
  const own = asked.figures.memory();
  if (own === undefined) throw new Error('the agent has no reading of its own to compare');
  const { availableBytes = Number.NaN, workingSetBytes = Number.NaN } = summary.readings.memory ?? {};
  // By the working set: what is available depends on how the kubelet's version and gates count huge pages.
  const opinion = { totalBytes: availableBytes + workingSetBytes, availableBytes: own.totalBytes - workingSetBytes };
  const verdict = compareOpinion(NAME, opinion, own, asked.toleranceShare);
  if (verdict.kind === 'incomparable') return { verdict };
  return { verdict, pods: comparePods(podComparisonQuery(summary.pods, own, asked)) };
}

function podComparisonQuery(
  reported: Parameters<typeof comparePods>[0]['reported'],
  { totalBytes }: OwnReading,
  { pods, figures: { pods: history }, toleranceShare, clock }: Omit<KubeletPeerOptions, 'kubelet'>,
): Parameters<typeof comparePods>[0] {
  const now = clock.monotonic();
  history.note(pods(), now);
  const offsetMs = clock.now() - now;
  const toleranceBytes = totalBytes * toleranceShare;
  return { source: NAME, reported, history, toleranceBytes, onClock: (wallMs) => wallMs - offsetMs };
}
