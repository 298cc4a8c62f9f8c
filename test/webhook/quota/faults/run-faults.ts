import { systemClock as clock } from '#shared/runtime/clock.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import { PRIORITY_QUOTAS } from '#shared/kube/resource.ts';
import { randomSource, type RandomSource } from '#test/fakes/random-source.ts';
import { checkHistory, type Verdict } from './check-history.ts';
import { QUOTAS, startFaultCluster, type FaultCluster } from './fault-cluster.ts';
import { LIMITED } from './history.ts';
import { DRY_RUN_PREFIX, runLoad, type LoadReport } from './load.ts';
import { startLoopbackService } from './loopback-service.ts';
import { startReplica } from './replica.ts';
import { startReplicaSet } from './replica-set.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

export interface FaultOptions {
  readonly seed: number;
  readonly replicas: number;
  readonly creates: number;
  /** At once. */
  readonly concurrency: number;
  /** Far more than the API server takes from an admission to the stored pod, however busy the machine. */
  readonly reservationSeconds: number;
  /** With 0 each replica takes slices from its first second, and leaves them behind when it is killed. */
  readonly sliceAfterSeconds: number;
}

export interface FaultReport {
  readonly options: FaultOptions;
  readonly load: LoadReport;
  /** Must be none. */
  readonly storedDryRuns: number;
  readonly kills: number;
  readonly failedStarts: number;
  readonly edits: number;
  readonly loadSeconds: number;
  /** From the last fault until `used` was the truth everywhere; undefined when it was not in time. */
  readonly healedAfterSeconds: number | undefined;
  readonly verdict: Verdict;
}

const HEAL_MS = 180_000;
const EDIT_EVERY_MS = 4_000;

/** Webhook processes that are killed all the time, a cluster full of pods that come and go, and what its history says. */
export async function runFaults(options: FaultOptions): Promise<FaultReport> {
  const random = randomSource(options.seed);
  const service = await startLoopbackService();
  const cluster = await startFaultCluster(service.port, random);
  const replicas = startReplicaSet(options.replicas, service, () =>
    startReplica(flagsFor(options), cluster.environment),
  );
  try {
    await replicas.ready();
    const calm = new AbortController();
    const startedAt = clock.monotonic();
    const faults = [replicas.storm(random, calm.signal), editQuotas(cluster.client, random, calm.signal)] as const;
    const load = await runLoad(cluster.client, { ...options, random });
    const loadSeconds = seconds(startedAt);
    calm.abort();
    const [, edits] = await Promise.all(faults);
    const healedAfterSeconds = await untilTrue(cluster, load);
    const verdict = checkHistory(cluster.history, { quotas: QUOTAS, longestRequestMs: load.longestMs });
    return {
      options,
      load,
      storedDryRuns: cluster.history.filter(({ name }) => name.startsWith(DRY_RUN_PREFIX)).length,
      kills: replicas.kills,
      failedStarts: replicas.failedStarts,
      edits,
      loadSeconds,
      healedAfterSeconds,
      verdict,
    };
  } finally {
    await replicas.stop();
    await service.close();
    await cluster.close();
  }
}

function flagsFor({ reservationSeconds, sliceAfterSeconds }: FaultOptions): readonly string[] {
  return [
    '--host=127.0.0.1',
    '--port=0',
    '--health-host=127.0.0.1',
    '--health-port=0',
    '--tls-secret-name=plimsoll-webhook-ca',
    '--registration-mode=CaBundle',
    `--reservation-seconds=${reservationSeconds}`,
    `--slice-after-seconds=${sliceAfterSeconds}`,
  ];
}

/** Lowers the pods of one quota and raises them again; resolves with how often when `signal` aborts. */
async function editQuotas(client: KubeClient, random: RandomSource, signal: AbortSignal): Promise<number> {
  let edits = 0;
  for (;;) {
    await letTimePass(EDIT_EVERY_MS, 'load', signal);
    const { name, hard } = QUOTAS[0] ?? { name: '', hard: { pods: 0 } };
    const pods = signal.aborted ? hard.pods : Math.ceil(hard.pods * random.pick([0.5, 0.75, 1]));
    await patchObject(client, { resource: PRIORITY_QUOTAS, name }, { spec: { hard: { pods } } }, { type: 'merge' });
    if (signal.aborted) return edits;
    edits += 1;
  }
}

async function untilTrue({ history }: FaultCluster, { longestMs }: LoadReport): Promise<number | undefined> {
  const startedAt = clock.monotonic();
  const isTrue = eventually(() => {
    const { quotas } = checkHistory(history, { quotas: QUOTAS, longestRequestMs: longestMs });
    for (const { truth, used, reservations } of Object.values(quotas)) {
      if (reservations > 0 || LIMITED.some((name) => used[name] !== truth[name])) throw new Error('not healed');
    }
  }, HEAL_MS);
  return isTrue.then(
    () => seconds(startedAt),
    () => undefined,
  );
}

function seconds(since: number): number {
  return Math.round((clock.monotonic() - since) / 100) / 10;
}
