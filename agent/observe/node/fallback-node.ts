import { areOfOneMachine, type MemoryReadings } from '#shared/domain/pressure/memory-figure.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { ObservedNode } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import type { NodeSource, ObservedPod } from './node-source.ts';
import { advancePresence, presentSince } from '#agent/observe/source/source.ts';
import { DOUBTS } from '#agent/messages.ts';

export interface FallbackOptions {
  /** Opens the kernel files; returns the reason when their layout is unknown, and is then called again. */
  readonly openKernel: () => NodeSource | Because;
  readonly summary: NodeSource;
  /** Reclaimable memory of this node as far as it is known without cgroups; the kubelet does not report it. */
  readonly reclaimable: (nowMs: number) => MemoryReadings;
  readonly clock: Clock;
}

/** How long kernel readings may be missing before the kubelet's are used, and must be back before those are dropped. */
const PATIENCE = { lostMs: 3000, foundMs: 10_000 };
const REOPEN_MS = 10_000;

/**
 * The node from its kernel files, and from the kubelet's summary while memory cannot be read from the kernel:
 *
 *     kernel ── no memory reading for 3 s ──▶ summary ── a reading for 10 s ──▶ kernel
 *
 * Only the signals and the pods' statistics come from the summary then; other kernel readings stay in use.
 */
export function createFallbackNode({ openKernel, summary, reclaimable, clock }: FallbackOptions): NodeSource {
  let kernel: NodeSource | undefined;
  let because = unreadable('');
  let openedAtMs = -Infinity;
  let followed: readonly ObservedPod[] = [];
  let memory = presentSince(clock.monotonic());
  const stopping = new AbortController();

  function open(nowMs: number): void {
    if (kernel !== undefined || nowMs - openedAtMs < REOPEN_MS) return;
    openedAtMs = nowMs;
    const opened = openKernel();
    if ('code' in opened) because = opened;
    else {
      kernel = opened;
      kernel.follow(followed);
      void kernel.run(stopping.signal);
    }
  }

  function note(view: ObservedNode | undefined, nowMs: number): void {
    memory = advancePresence(memory, view?.readings.memory !== undefined, PATIENCE, nowMs);
    const failing = kernel?.health().find(({ name, state }) => MEMORY_SOURCES.includes(name) && state !== 'reading');
    if (memory.isLost && failing?.because !== undefined) because = unreadable(failing.because);
  }

  function readNode(nowMs: number): ObservedNode {
    open(nowMs);
    const own = kernel?.readNode(nowMs);
    note(own, nowMs);
    if (own !== undefined && !memory.isLost) return own;
    const kubeletView = summary.readNode(nowMs);
    return own === undefined ? withOwnMemory(kubeletView, reclaimable(nowMs)) : withReadingsOf(kubeletView, own);
  }

  const active = (): NodeSource => (kernel === undefined || memory.isLost ? summary : kernel);

  function follow(pods: readonly ObservedPod[]): void {
    followed = pods;
    kernel?.follow(pods);
  }

  function run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => stopping.abort(), { once: true });
    return summary.run(signal);
  }

  function close(): void {
    stopping.abort();
    kernel?.close();
    summary.close();
  }
  return {
    kind: 'kernel',
    readNode,
    follow,
    usage: (depth, nowMs) => active().usage(depth, nowMs),
    podPressures: () => active().podPressures(),
    groups: () => active().groups(),
    containers: (uid) => active().containers(uid),
    whyUnmeasured: () => kernel?.whyUnmeasured(),
    health: () => [...(kernel?.health() ?? []), ...(active() === summary ? summary.health() : [])],
    fallback: () => (active() === summary ? because : undefined),
    run,
    close,
  };
}

/**
 * The kubelet's view with memory from /proc, unless /proc describes another machine, as in a container without the
 * host's.
 */
function withOwnMemory(kubeletView: ObservedNode, reclaimable: MemoryReadings): ObservedNode {
  return areOfOneMachine(reclaimable.memory, kubeletView.readings.memory)
    ? { ...kubeletView, reclaimable }
    : kubeletView;
}

/** The kernel's view with the signals and statistics of the kubelet. */
function withReadingsOf(kubeletView: ObservedNode, own: ObservedNode): ObservedNode {
  return { ...own, readings: kubeletView.readings, stalls: firstOf(own.stalls, kubeletView.stalls) };
}

const MEMORY_SOURCES = ['meminfo', 'node-memory'];

/** The reason shown in conditions, log and metrics. */
export function unreadable(why: string): Because {
  return DOUBTS.kernelUnreadable({ why }, { why });
}

function firstOf<T>(own: readonly T[], kubeletView: readonly T[]): readonly T[] {
  return own.length > 0 ? own : kubeletView;
}
