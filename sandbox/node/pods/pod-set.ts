import { createReflector, type Reflector, type Change } from '#shared/kube/reflector/reflector.ts';
import { PODS } from '#shared/kube/resource.ts';
import type { ContainerPorts } from '#sandbox/node/containers/container-runner.ts';
import { hasPodEnded, type PodWorker, startPodWorker } from './pod-worker.ts';
import { createStatusPublisher, deleteForGood, type PublisherPorts, type StatusPublisher } from './publish-status.ts';
import type { WirePod } from '#sandbox/node/wire-pod.ts';

export interface PodSetOptions extends PublisherPorts {
  /** Of the node. */
  readonly name: string;
  readonly ports: ContainerPorts;
}

interface HostedPod {
  readonly worker: PodWorker;
  readonly publisher: StatusPublisher;
  /** When its containers must be gone, monotonic; `undefined` while it is not terminating. */
  endsAt: number | undefined;
}

const DEFAULT_GRACE_SECONDS = 30;

/** The pods of one node, each run by its worker: starts, stops and reports them according to the API server. */
export class PodSet {
  readonly #options: PodSetOptions;
  readonly #reflector: Reflector<WirePod>;
  readonly #entries = new Map<string, HostedPod>();
  #addresses = 0;

  constructor(options: PodSetOptions) {
    this.#options = options;
    this.#reflector = createReflector<WirePod>({
      ...options,
      resource: PODS,
      fieldSelector: `spec.nodeName=${options.name}`,
      slim: (raw) => raw as WirePod,
      random: Math.random,
    });
    this.#reflector.onChange((change) => this.#takeIn(change));
  }

  get synced(): Promise<void> {
    return this.#reflector.synced;
  }

  /** By UID; ended pods stay until they are deleted, for their logs. */
  get workers(): ReadonlyMap<string, PodWorker> {
    return new Map(Array.from(this.#entries, ([uid, { worker }]) => [uid, worker]));
  }

  /** Follows the API server until the signal aborts. */
  run(): Promise<void> {
    return this.#reflector.run(this.#options.signal);
  }

  #takeIn({ kind, value: pod }: Change<WirePod>): void {
    const uid = pod.metadata.uid ?? '';
    if (kind === 'deleted') this.#forget(uid);
    else this.#show(pod, this.#entries.get(uid) ?? this.#start(pod));
  }

  #show(pod: WirePod, entry: HostedPod | undefined): void {
    if (entry === undefined) return;
    entry.worker.see(pod);
    const graceSeconds = graceOf(pod, entry.worker);
    if (graceSeconds !== undefined) this.#end(entry, graceSeconds);
  }

  #start(pod: WirePod): HostedPod | undefined {
    const phase = pod.status?.phase;
    if (phase === 'Succeeded' || phase === 'Failed') return undefined;
    if (pod.metadata.deletionTimestamp !== undefined) {
      void deleteForGood(this.#options, pod);
      return undefined;
    }
    this.#addresses += 1;
    const publisher = createStatusPublisher(() => worker, this.#options);
    const worker = startPodWorker({
      pod,
      ports: this.#options.ports,
      hostIP: '127.0.0.1',
      podIP: podAddress(this.#addresses),
      onChange: publisher.changed,
    });
    const entry = { worker, publisher, endsAt: undefined };
    this.#entries.set(worker.uid, entry);
    return entry;
  }

  /** A later call counts only if it leaves less time, such as a second deletion with a shorter grace period. */
  #end(entry: HostedPod, graceSeconds: number): void {
    const endsAt = this.#options.clock.monotonic() + graceSeconds * 1000;
    if (entry.endsAt !== undefined && entry.endsAt <= endsAt) return;
    const isFirst = entry.endsAt === undefined;
    entry.endsAt = endsAt;
    const ended = entry.worker.end(graceSeconds * 1000);
    if (isFirst) void ended.then(() => this.#finish(entry));
  }

  async #finish({ worker, publisher }: HostedPod): Promise<void> {
    publisher.changed();
    await publisher.flushed();
    if (worker.pod().metadata.deletionTimestamp !== undefined) await deleteForGood(this.#options, worker.pod());
  }

  /** Deleted from the API server: running containers have no grace period left. */
  #forget(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry !== undefined) void entry.worker.end(0).then(() => this.#entries.delete(uid));
  }
}

function podAddress(number: number): string {
  return `10.244.${Math.floor(number / 254) % 256}.${(number % 254) + 1}`;
}

/** Seconds until the pod must be gone; `undefined` while it may stay. */
function graceOf(pod: WirePod, worker: PodWorker): number | undefined {
  if (pod.metadata.deletionTimestamp !== undefined) return pod.metadata.deletionGracePeriodSeconds ?? 0;
  // Another client may declare a pod failed; its containers then get the pod's own grace.
  const wasFailed = pod.status?.phase === 'Failed' && !hasPodEnded(worker);
  return wasFailed ? (pod.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) : undefined;
}
