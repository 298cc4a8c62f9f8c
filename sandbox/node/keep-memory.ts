import type { Log } from '#shared/runtime/log.ts';
import type { EventRecorder } from '#shared/kube/events/event-recorder.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { type Measurement, usedBytes, type ContainerUsage } from './measure-containers.ts';
import type { PodWorker } from './pods/pod-worker.ts';
import type { WireContainer, WirePod } from './wire-pod.ts';

export interface MemoryKeeper {
  readonly nodeName: string;
  readonly capacityBytes: number;
  readonly events: EventRecorder;
  readonly log: Log;
}

interface KillCause {
  readonly reason: 'OOMKilling' | 'SystemOOM';
  readonly text: string;
}

const OVER_LIMIT: KillCause = { reason: 'OOMKilling', text: 'it passed its memory limit' };
const NODE_FULL: KillCause = { reason: 'SystemOOM', text: 'the node ran out of memory' };

/** Acts like the kernel: kills containers over their limit, and a process if the whole node is full. */
export function keepMemory(
  keeper: MemoryKeeper,
  workers: ReadonlyMap<string, PodWorker>,
  measurement: Measurement,
): void {
  const holders = memoryHolders(workers, measurement);
  const over = overLimit(holders);
  for (const holder of over) kill(keeper, workers, holder, OVER_LIMIT);
  if (over.length > 0 || usedBytes(measurement) <= keeper.capacityBytes) return;
  const victim = chooseOomVictim(holders, keeper.capacityBytes);
  if (victim !== undefined) kill(keeper, workers, victim, NODE_FULL);
}

function memoryHolders(workers: ReadonlyMap<string, PodWorker>, measurement: Measurement): readonly MemoryHolder[] {
  return measurement.containers.flatMap((usage): MemoryHolder[] => {
    const pod = workers.get(usage.podUid)?.pod();
    const container = pod === undefined ? undefined : containerOf(pod, usage.container);
    if (pod === undefined || container === undefined) return [];
    return [{ usage, container, qosClass: pod.status?.qosClass ?? 'BestEffort', priority: pod.spec.priority ?? 0 }];
  });
}

function containerOf({ spec }: WirePod, name: string): WireContainer | undefined {
  return [...(spec.initContainers ?? []), ...spec.containers].find((each) => each.name === name);
}

function kill(
  keeper: MemoryKeeper,
  workers: ReadonlyMap<string, PodWorker>,
  holder: MemoryHolder,
  cause: KillCause,
): void {
  const { usage } = holder;
  const runner = workers.get(usage.podUid)?.runners.find((each) => each.record().name === usage.container);
  const pid = runner?.pid();
  if (runner === undefined || pid === undefined) return;
  runner.killForMemory();
  const pod = `${usage.namespace}/${usage.pod}`;
  keeper.log.warn(
    { pod, container: usage.container, workingSetBytes: usage.workingSetBytes, cause: cause.text },
    'Container killed',
  );
  keeper.events.record({
    regarding: { apiVersion: 'v1', kind: 'Node', name: keeper.nodeName },
    type: 'Warning',
    reason: cause.reason,
    note: `Killed container ${usage.container} of pod ${pod} (pid ${pid}): ${cause.text}`,
    action: 'Killing',
  });
}

/** A running container with what it declared. */
export interface MemoryHolder {
  readonly usage: ContainerUsage;
  readonly container: WireContainer;
  readonly qosClass: string;
  readonly priority: number;
}

/** Containers over their own memory limit: the kernel kills in their cgroup alone. */
export function overLimit(holders: readonly MemoryHolder[]): readonly MemoryHolder[] {
  return holders.filter(({ usage, container }) => {
    const limit = bytesOf(container.resources?.limits?.['memory']);
    return limit !== undefined && usage.workingSetBytes > limit;
  });
}

/**
 * The process that the kernel kills if the whole node is full: the highest badness, which depends on QoS and size but
 * not on priority (`mm/oom_kill.c` oom_badness with the kubelet's `pkg/kubelet/qos/policy.go` adjustments).
 */
export function chooseOomVictim(holders: readonly MemoryHolder[], capacityBytes: number): MemoryHolder | undefined {
  const badness = (holder: MemoryHolder): number =>
    (holder.usage.workingSetBytes * 1000) / capacityBytes + scoreAdjustment(holder, capacityBytes);
  return holders.toSorted((left, right) => badness(right) - badness(left))[0];
}

/** -997 to 1000: the less a container requests, the sooner it is killed. */
export function scoreAdjustment({ container, qosClass, priority }: MemoryHolder, capacityBytes: number): number {
  if (qosClass === 'Guaranteed' || priority >= 2_000_000_000) return -997;
  if (qosClass === 'BestEffort') return 1000;
  const request = bytesOf(container.resources?.requests?.['memory']) ?? 0;
  return Math.min(999, Math.max(3, Math.trunc(1000 - (1000 * request) / capacityBytes)));
}

function bytesOf(text: string | undefined): number | undefined {
  const parsed = parseQuantity(text ?? '');
  return parsed.ok ? quantityNumber(parsed.quantity) : undefined;
}
