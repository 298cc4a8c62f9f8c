import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { serve, type TlsOptions } from '#shared/http/serve.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { createEventRecorder } from '#shared/kube/events/event-recorder.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import { keepMemory } from './keep-memory.ts';
import { kubeletListener } from './kubelet-server.ts';
import { createMeasure, type Measurement } from './measure-containers.ts';
import type { LogBuffer } from './containers/log-buffer.ts';
import { keepNodeObject } from './keep-node-object.ts';
import { PodSet } from './pods/pod-set.ts';
import { KUBELET_BACKOFF, type RestartBackoff } from './containers/container-runner.ts';
import { startProcess } from './containers/start-process.ts';
import { openProcessSource, type ProcessSourceName } from './processes/process-source.ts';
import { available, type DiskSpace, statsSummary } from './stats-summary.ts';

export interface NodeOptions extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Virtual capacity, as quantities. */
  readonly cpu: string;
  readonly memory: string;
  /** Of the kubelet's API. */
  readonly tls: TlsOptions;
  readonly token: string;
  readonly backoff?: RestartBackoff;
  /** How to measure processes; by default the best source of this system. */
  readonly measureWith?: ProcessSourceName | undefined;
}

export interface SandboxNode {
  /** Of the kubelet's API. */
  readonly url: string;
  /** How often it measures its pods. */
  readonly periodMs: number;
  /** The part of its virtual memory that its pods leave free now. */
  availableBytes(): number;
  /** A container's log, `undefined` if there is none (yet). */
  log(podUid: string, container: string, previous: boolean): LogBuffer | undefined;
  /** Resolves when the node is registered and pods are watched. */
  readonly ready: Promise<void>;
  /** Ends all containers at once, and then the node. */
  stop(): Promise<void>;
}

const MEASURE_DEADLINE_MS = 5_000;

/**
 * A node that runs demo images as real processes: registers itself, runs the pods bound to it, and reports their usage.
 */
export async function startNode(options: NodeOptions): Promise<SandboxNode> {
  const { client, clock, log, name } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const capacityBytes = bytesOf(options.memory);
  const events = createEventRecorder({ client, component: 'kubelet', instance: name, clock, log });
  const pods = new PodSet({
    ...options,
    signal,
    ports: { startProcess, clock, backoff: options.backoff ?? KUBELET_BACKOFF },
  });
  const processes = await openProcessSource(options.measureWith, clock);
  const measure = createMeasure(processes, clock);
  let measurement: Measurement = { at: clock.now(), containers: [] };
  const startedAt = clock.now();

  async function look(): Promise<void> {
    measurement = await measure(pods.workers.values());
    keepMemory({ nodeName: name, capacityBytes, events, log }, pods.workers, measurement);
  }

  const server = await serve({
    handler: kubeletListener({
      token: options.token,
      summary: async () =>
        statsSummary({ nodeName: name, startedAt, memoryBytes: capacityBytes, measurement, disk: await diskSpace() }),
    }),
    host: '127.0.0.1',
    port: 0,
    tls: options.tls,
  });
  const availableBytes = (): number => available(measurement, capacityBytes);
  const facts = { ...options, labels: options.labels ?? {}, kubeletPort: server.port };
  const nodeObject = keepNodeObject({ client, clock, log, facts, availableBytes });
  const measuring = repeat(
    {
      task: look,
      periodMs: processes.periodMs,
      deadlineMs: MEASURE_DEADLINE_MS,
      onError: (error) => log.error({ err: error }, 'Containers not measured'),
      clock,
    },
    signal,
  );
  const running = [measuring, pods.run(), nodeObject.run(signal)];

  return {
    url: server.url,
    periodMs: processes.periodMs,
    availableBytes,
    log: (podUid, container, previous) =>
      pods.workers
        .get(podUid)
        ?.runners.find((runner) => runner.record().name === container)
        ?.logs(previous),
    ready: Promise.all([nodeObject.registered, pods.synced]).then(() => undefined),
    stop: () => stop(stopping, pods, running, server),
  };
}

async function stop(
  stopping: AbortController,
  pods: PodSet,
  running: readonly Promise<void>[],
  server: { close(): Promise<void> },
): Promise<void> {
  stopping.abort();
  await Promise.all([...pods.workers.values()].map((worker) => worker.end(0)));
  await Promise.all([...running, server.close()]);
}

async function diskSpace(): Promise<DiskSpace> {
  const { bavail, blocks, bsize, ffree, files } = await statfs(tmpdir());
  const space = { availableBytes: bavail * bsize, capacityBytes: blocks * bsize };
  // Windows counts no inodes.
  return files === 0 ? space : { ...space, inodesFree: ffree, inodes: files };
}

function bytesOf(text: string): number {
  const parsed = parseQuantity(text);
  if (!parsed.ok) throw new Error(`cannot read the node's memory "${text}": expected a quantity such as 1Gi`);
  return quantityNumber(parsed.quantity);
}
