import type { KubeClient } from '#shared/kube/client/client.ts';
import { createReflector } from '#shared/kube/reflector/reflector.ts';
import type { Change } from '#shared/kube/reflector/reflector-store.ts';
import { PODS } from '#shared/kube/resource.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { ContainerPorts } from '#sandbox/node/containers/container-runner.ts';
import { hasPodEnded, type PodWorker, startPodWorker } from './pod-worker.ts';
import { createStatusPublisher, deleteForGood, type StatusPublisher } from './publish-status.ts';
import type { WirePod } from './wire-pod.ts';

export interface PodSetOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  /** Of the node. */
  readonly name: string;
  readonly ports: ContainerPorts;
  readonly signal: AbortSignal;
}

/** The pods of one node, each run by its worker. */
export interface PodSet {
  /** By UID; those that have ended stay until their pod is deleted, for their logs. */
  readonly workers: ReadonlyMap<string, PodWorker>;
  readonly synced: Promise<void>;
  /** Follows the API server until the signal aborts. */
  run(): Promise<void>;
}

interface Entry {
  readonly worker: PodWorker;
  readonly publisher: StatusPublisher;
  /** When its containers must be gone, monotonic; `undefined` while it is not terminating. */
  endsAt: number | undefined;
}

const DEFAULT_GRACE_SECONDS = 30;

/** Starts, ends and reports pods as the API server says. */
export function createPodSet(options: PodSetOptions): PodSet {
  const { client, clock, log, signal } = options;
  const entries = new Map<string, Entry>();
  const workers = new Map<string, PodWorker>();
  let addresses = 0;
  const reflector = createReflector<WirePod>({
    client,
    clock,
    log,
    resource: PODS,
    fieldSelector: `spec.nodeName=${options.name}`,
    slim: (raw) => raw as WirePod,
    random: Math.random,
  });

  function onChange({ kind, value: pod }: Change<WirePod>): void {
    const uid = pod.metadata.uid ?? '';
    if (kind === 'deleted') forget(uid);
    else show(pod, entries.get(uid) ?? start(pod));
  }

  function show(pod: WirePod, entry: Entry | undefined): void {
    if (entry === undefined) return;
    entry.worker.see(pod);
    const graceSeconds = graceOf(pod);
    if (graceSeconds !== undefined) end(entry, graceSeconds);
  }

  function start(pod: WirePod): Entry | undefined {
    const uid = pod.metadata.uid ?? '';
    const phase = pod.status?.phase;
    if (phase === 'Succeeded' || phase === 'Failed') return undefined;
    if (pod.metadata.deletionTimestamp !== undefined) {
      void deleteForGood(options, pod);
      return undefined;
    }
    addresses += 1;
    const podIP = `10.244.${Math.floor(addresses / 254) % 256}.${(addresses % 254) + 1}`;
    const publisher = createStatusPublisher(() => worker, options);
    const worker = startPodWorker({
      pod,
      ports: options.ports,
      hostIP: '127.0.0.1',
      podIP,
      onChange: publisher.changed,
    });
    const entry = { worker, publisher, endsAt: undefined };
    entries.set(uid, entry);
    workers.set(uid, worker);
    return entry;
  }

  /** A later call counts only if it leaves less time, as when a second deletion has a shorter grace. */
  function end(entry: Entry, graceSeconds: number): void {
    const endsAt = clock.monotonic() + graceSeconds * 1000;
    if (entry.endsAt !== undefined && entry.endsAt <= endsAt) return;
    const isFirst = entry.endsAt === undefined;
    entry.endsAt = endsAt;
    const ended = entry.worker.end(graceSeconds * 1000);
    if (isFirst) void ended.then(() => finish(entry));
  }

  async function finish({ worker, publisher }: Entry): Promise<void> {
    publisher.changed();
    await publisher.settled();
    if (worker.pod().metadata.deletionTimestamp !== undefined) await deleteForGood(options, worker.pod());
  }

  /** Gone from the API server: whatever still runs has no grace left. */
  function forget(uid: string): void {
    const entry = entries.get(uid);
    if (entry === undefined) return;
    void entry.worker.end(0).then(() => {
      entries.delete(uid);
      workers.delete(uid);
    });
  }

  reflector.onChange(onChange);
  return { workers, synced: reflector.synced, run: () => reflector.run(signal) };

  /** In how many seconds the pod must be gone; `undefined` while it may stay. */
  function graceOf(pod: WirePod): number | undefined {
    if (pod.metadata.deletionTimestamp !== undefined) return pod.metadata.deletionGracePeriodSeconds ?? 0;
    const worker = workers.get(pod.metadata.uid ?? '');
    // Another client may declare a pod failed; its containers then get the pod's own grace.
    const wasFailed = pod.status?.phase === 'Failed' && worker !== undefined && !hasPodEnded(worker);
    return wasFailed ? (pod.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) : undefined;
  }
}
