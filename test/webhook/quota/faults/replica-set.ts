import type { RandomSource } from '#test/fakes/random-source.ts';
import type { LoopbackService } from './loopback-service.ts';
import type { Replica } from './replica.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

/** A number of replicas behind a Service, which are killed at random. */
export interface ReplicaSet {
  /** Resolves when all are. */
  ready(): Promise<void>;
  /** Kills one of them every 1 to 3 s and starts another in its place, until `signal` aborts and all are up again. */
  storm(random: RandomSource, signal: AbortSignal): Promise<void>;
  readonly kills: number;
  /** Exits of replicas that were not killed. */
  readonly failedStarts: number;
  stop(): Promise<void>;
}

const SHORTEST_PAUSE_MS = 1_000;
const PAUSE_SPREAD_MS = 2_000;
const ALL_UP_MS = 600_000;

/** Starts them. */
export function startReplicaSet(size: number, service: LoopbackService, start: () => Replica): ReplicaSet {
  const replicas = new Map<Replica, number | undefined>();
  let kills = 0;
  let failedStarts = 0;

  async function launch(): Promise<void> {
    const replica = start();
    replicas.set(replica, undefined);
    const port = await replica.ready;
    if (!replicas.has(replica)) return;
    if (port === undefined) return startAgain(replica);
    replicas.set(replica, port);
    service.add(port);
  }

  /** Restarts one that exits by itself, like a kubelet. */
  async function startAgain(replica: Replica): Promise<void> {
    replicas.delete(replica);
    failedStarts += 1;
    await letTimePass(SHORTEST_PAUSE_MS, 'double');
    await launch();
  }

  /** One that is on its way up may be hit too, but the last that answers is spared: nothing would be tried then. */
  async function killOne(random: RandomSource): Promise<void> {
    if (service.ready < 2) return;
    const [replica, port] = random.pick([...replicas]);
    kills += 1;
    replicas.delete(replica);
    await replica.kill();
    if (port !== undefined) service.remove(port);
    void launch();
  }

  async function untilAllUp(): Promise<void> {
    await eventually(() => {
      if (service.ready < size) throw new Error(`only ${service.ready} of ${size} replicas became ready`);
    }, ALL_UP_MS);
  }

  for (let index = 0; index < size; index += 1) void launch();
  return {
    ready: untilAllUp,
    storm: async (random, signal) => {
      while (!signal.aborted) {
        await letTimePass(SHORTEST_PAUSE_MS + random.below(PAUSE_SPREAD_MS), 'load', signal);
        await killOne(random);
      }
      await untilAllUp();
    },
    get kills() {
      return kills;
    },
    get failedStarts() {
      return failedStarts;
    },
    stop: async () => {
      const all = [...replicas.keys()];
      replicas.clear();
      await Promise.all(all.map((replica) => replica.kill()));
    },
  };
}
