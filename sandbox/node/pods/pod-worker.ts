import { type ContainerPorts, ContainerRunner } from '#sandbox/node/containers/container-runner.ts';
import { podPhase, type PodFacts } from './pod-status.ts';
import type { WirePod } from '#sandbox/node/wire-pod.ts';

export interface PodWorkerOptions {
  readonly pod: WirePod;
  readonly ports: ContainerPorts;
  readonly hostIP: string;
  readonly podIP: string;
  /** Called after each change; `worker.facts()` then differs. */
  readonly onChange: () => void;
}

/** One pod on this node from its first container to its last. */
export interface PodWorker {
  readonly uid: string;
  /** As the API server last showed it. */
  readonly pod: () => WirePod;
  see(pod: WirePod): void;
  facts(): PodFacts;
  readonly runners: readonly ContainerRunner[];
  /**
   * Stops the containers and kills them after the grace period; a later call may only shorten it. Resolves when they
   * are gone.
   */
  end(graceMs: number): Promise<void>;
  /** Resolves when all containers have ended for good. */
  readonly ended: Promise<void>;
}

/** Starts the pod's containers at once: init containers one after the other, then the others together. */
export function startPodWorker(options: PodWorkerOptions): PodWorker {
  const { clock } = options.ports;
  let pod = options.pod;
  const stopping = new AbortController();
  const { spec } = pod;
  const startTime = clock.now();
  const runnersOf = (containers: WirePod['spec']['containers'], restartPolicy: string) =>
    containers.map((container) => new ContainerRunner({ ...options, container, restartPolicy }));
  const policy = spec.restartPolicy ?? 'Always';
  const initRunners = runnersOf(spec.initContainers ?? [], policy === 'Never' ? 'Never' : 'OnFailure');
  const mainRunners = runnersOf(spec.containers, policy);
  const runners = [...initRunners, ...mainRunners];

  async function run(): Promise<void> {
    for (const runner of initRunners) {
      const end = await runner.run(stopping.signal);
      if (end?.exitCode !== 0) return;
    }
    await Promise.all(mainRunners.map((runner) => runner.run(stopping.signal)));
  }

  const ended = run();

  async function end(graceMs: number): Promise<void> {
    stopping.abort();
    for (const runner of runners) runner.kill('SIGTERM');
    const inTime = new AbortController();
    const killing = clock.sleep(graceMs, inTime.signal).then(() => {
      if (!inTime.signal.aborted) for (const runner of runners) runner.kill('SIGKILL');
    });
    await ended;
    inTime.abort();
    await killing;
  }

  return {
    uid: pod.metadata.uid ?? '',
    pod: () => pod,
    see: (seen) => void (pod = seen),
    facts: () => ({
      spec,
      generation: pod.metadata.generation,
      initContainers: initRunners.map((runner) => runner.record()),
      containers: mainRunners.map((runner) => runner.record()),
      isEnding: stopping.signal.aborted,
      startTime,
      hostIP: options.hostIP,
      podIP: options.podIP,
      conditions: pod.status?.conditions ?? [],
    }),
    runners,
    end,
    ended,
  };
}

/** Whether the pod will never run again. */
export function hasPodEnded(worker: PodWorker): boolean {
  const facts = worker.facts();
  const phase = podPhase({ restartPolicy: facts.spec.restartPolicy ?? 'Always', ...facts });
  return phase === 'Succeeded' || phase === 'Failed';
}
