import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countReadyNodes } from '#test/cluster/support/fake-nodes.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import type { Component } from '#test/cluster/support/control-plane/component.ts';
import { startSecondScheduler } from '#test/cluster/support/control-plane/second-scheduler.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { type SchedulerProcess, startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { eventually } from '#test/build/waiting.ts';
import { breachesOf, type Breach } from './laws.ts';
import { randomCluster } from './random-cluster.ts';
import { build, clear, make, play, settle, type Step } from './stage.ts';
import type { StageCluster } from './stage-cluster.ts';
import { type Setting, sharedObjects } from './stage-objects.ts';
import { viewStages } from './stage-view.ts';

const SEEDS = Number(process.env['PLIMSOLL_DIFFERENTIAL_SEEDS'] ?? 40);
const FIRST_SEED = Number(process.env['PLIMSOLL_DIFFERENTIAL_FIRST'] ?? 1_000);
/** Scenarios that are played at the same time. */
const BATCH = 40;
const AT_ONCE = 8;
const PATIENCE_MS = 60_000;
const ALONE = 'default-scheduler';
const ASKING = 'with-extender';
const OTHER = 'other';
const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`kube-scheduler with and without the extender${why ?? ''}`, () => {
  let port = 0;
  let extender: SchedulerProcess;
  let asking: Component;
  const own = ownCluster(() =>
    Promise.resolve({ schedulerConfiguration: { ...PACE, profiles: [ALONE, OTHER].map(profile) } }),
  );

  beforeAll(async () => {
    const { cluster } = own();
    const [free = 0, securePort = 0] = await freePorts(2);
    port = free;
    extender = await startSchedulerProcess(cluster.kubeconfig, port);
    asking = startSecondScheduler(cluster, {
      kubeconfig: cluster.kubeconfig,
      configuration: withExtender(port),
      securePort,
    });
  }, 180_000);
  afterAll(async () => {
    await asking.stop('SIGKILL');
    await extender.stop();
  });

  test(
    'nothing is worse with it, in any of the seeded clusters',
    async () => {
      console.log(`differential: PLIMSOLL_DIFFERENTIAL_FIRST=${FIRST_SEED} PLIMSOLL_DIFFERENTIAL_SEEDS=${SEEDS}`);
      const seeds = Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index);
      const found: Judged[] = [];
      for (let first = 0; first < SEEDS; first += BATCH)
        found.push(...(await judge(seeds.slice(first, first + BATCH), 'first')));
      // What the moment decided, such as a pod that ended between two attempts, is not found a second time.
      const again = await judge(
        found.map(({ cluster }) => cluster.seed),
        'again',
      );
      const lasting = found.map((each) => lastingBreaches(each, again)).filter(({ breaches }) => breaches.length > 0);
      for (const each of lasting) console.log(JSON.stringify(each));
      expect(lasting.map(summaryOf)).toEqual([]);
    },
    120_000 + SEEDS * 20_000,
  );

  /** Plays these clusters both ways, and answers those where something was worse with the extender. */
  async function judge(seeds: readonly number[], round: string): Promise<readonly Judged[]> {
    const clusters = seeds.map((seed) => randomCluster(seed, randomSource(seed)));
    const { admin } = own();
    const pairs = clusters.map((cluster) => settingsOf(cluster, round));
    const settings = pairs.flat();
    const stop = new AbortController();
    await inFlight(AT_ONCE, sharedObjects(clusters), (each) => make(admin, each));
    const { view, running } = await viewStages(admin, settings, stop.signal);
    await inFlight(AT_ONCE, settings, (each) => build(admin, each));
    const nodes = settings.reduce((sum, each) => sum + each.cluster.nodes.length, 0);
    await eventually(
      async () => expect(await countReadyNodes(admin, { labelSelector: 'stage' })).toBe(nodes),
      PATIENCE_MS,
    );
    await inFlight(AT_ONCE, settings, (each) => settle(admin, each));
    const played = await Promise.all(settings.map((each) => play(admin, view, each)));
    stop.abort();
    await running;
    await inFlight(AT_ONCE, settings, (each) => clear(admin, each));
    return clusters.flatMap((cluster, index) => {
      const breaches = breachesOf(cluster, played[2 * index] ?? [], played[2 * index + 1] ?? []);
      return breaches.length > 0 ? [{ cluster, breaches }] : [];
    });
  }
});

/** The pace of retries, so that a pod which may be tried again is tried within two seconds. */
const PACE = { podInitialBackoffSeconds: 1, podMaxBackoffSeconds: 2, percentageOfNodesToScore: 100 };

/** One score decides between nodes that fit, the pod's own preference, so both ways can be compared. */
function profile(schedulerName: string): object {
  return {
    schedulerName,
    plugins: { score: { disabled: [{ name: '*' }], enabled: [{ name: 'NodeAffinity', weight: 1 }] } },
  };
}

function withExtender(port: number): object {
  const verbs = { preemptVerb: 'preempt', filterVerb: 'filter', nodeCacheCapable: true };
  return {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    ...PACE,
    leaderElection: { leaderElect: false },
    profiles: [profile(ASKING)],
    extenders: [{ urlPrefix: `http://127.0.0.1:${port}`, ...verbs, ignorable: true, httpTimeout: '5s' }],
  };
}

function settingsOf(cluster: StageCluster, round: string): readonly [Setting, Setting] {
  const shared = { cluster, otherScheduler: OTHER };
  return [
    { ...shared, id: `${round}-${cluster.seed}-without`, scheduler: ALONE, protection: 'Immune' },
    { ...shared, id: `${round}-${cluster.seed}-with`, scheduler: ASKING, protection: 'OptOut' },
  ];
}

/** A cluster where something was worse. */
interface Judged {
  readonly cluster: StageCluster;
  readonly breaches: readonly Breach[];
}

function lastingBreaches({ cluster, breaches }: Judged, again: readonly Judged[]): Judged {
  const same = again.find((each) => each.cluster.seed === cluster.seed)?.breaches ?? [];
  const isLasting = ({ law, pod }: Breach): boolean => same.some((each) => each.law === law && each.pod === pod);
  return { cluster, breaches: breaches.filter(isLasting) };
}

function summaryOf({ cluster: { seed, features }, breaches }: Judged): object {
  return { seed, features, breaches: breaches.map(textOf) };
}

function textOf({ law, pod, text, ...steps }: Breach): string {
  return `law ${law}: ${pod} ${text}; without ${summary(steps.without)}; with ${summary(steps.with)}`;
}

function summary(step: Step | undefined): string {
  if (step === undefined) return 'nothing';
  const where = step.node ?? (step.nominated === undefined ? 'nowhere' : `nowhere, nominated to ${step.nominated}`);
  return `${where} after ${Math.round(step.waitedMs / 1_000)} s, victims ${step.victims.join(' ') || 'none'}`;
}
