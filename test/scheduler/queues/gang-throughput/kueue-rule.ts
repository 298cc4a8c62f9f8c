import { scheduleAll, type SchedulerPod, type SchedulerSettings } from '#test/scheduler/queues/model-scheduler.ts';
import type { Work } from './arrivals.ts';
import type { WorkCluster } from './run-work.ts';

interface Admitted {
  readonly work: Work;
  /** Since when not all of its pods have a node. */
  lackingSince: number | undefined;
  pods: RulePod[];
}

interface Waiting {
  readonly work: Work;
  readonly requeues: number;
  readonly from: number;
}

type RulePod = Omit<SchedulerPod, 'node' | 'deletionAt' | 'nominatedTo'> & {
  node?: string;
  deletionAt?: number;
  nominatedTo?: string;
};

interface RuleSettings extends SchedulerSettings {
  readonly nodes: ReadonlyMap<string, number>;
  /** How long a workload may have pods without a node: `waitForPodsReady.timeout`. */
  readonly timeoutSeconds: number;
}

/** `requeuingStrategy.backoffBaseSeconds` as Kueue sets it, doubled each time. */
const BACKOFF_SECONDS = 60;
const MAX_BACKOFF_SECONDS = 3_600;

/**
 * Kueue's rule: a workload goes in when the quota has room for all of it, by priority and age, and what does not fit lets
 * others pass. The quota is what the nodes have together; nobody looks where pods fit. A workload of which a pod has no
 * node in time goes back whole and waits longer each time.
 */
export function kueueRule({ nodes, timeoutSeconds, ...scheduling }: RuleSettings): WorkCluster {
  const quota = [...nodes.values()].reduce((sum, each) => sum + each, 0);
  const admitted = new Map<Work, Admitted>();
  const requeues = new Map<Work, number>();
  let waiting: Waiting[] = [];
  const ending = new Set<RulePod>();
  let [second, used] = [0, 0];

  const sizeOf = ({ size, cpu }: Work): number => size * cpu;
  const podsOf = (work: Work): RulePod[] =>
    Array.from({ length: work.size }, (_, index) => {
      return { name: `${work.name}-${index}`, cpu: work.cpu, priority: work.priority, createdAt: second };
    });

  function leave({ work, pods }: Admitted): void {
    admitted.delete(work);
    used -= sizeOf(work);
    for (const pod of pods) if (pod.node !== undefined) end(pod);
  }

  function end(pod: RulePod): void {
    pod.deletionAt = second + 1;
    ending.add(pod);
  }

  /** Pods that were removed come again. */
  function replace(): void {
    for (const pod of ending) if ((pod.deletionAt ?? 0) <= second) ending.delete(pod);
    for (const each of admitted.values()) {
      each.pods = each.pods.map((pod, index) => {
        if (pod.deletionAt === undefined) return pod;
        return {
          name: `${each.work.name}-${index}-${second}`,
          cpu: pod.cpu,
          priority: pod.priority,
          createdAt: second,
        };
      });
    }
  }

  function requeueLate(): void {
    for (const each of [...admitted.values()]) {
      const isWhole = each.pods.every(({ node }) => node !== undefined);
      each.lackingSince = isWhole ? undefined : (each.lackingSince ?? second);
      if (second - (each.lackingSince ?? second) < timeoutSeconds) continue;
      const count = requeues.get(each.work) ?? 0;
      requeues.set(each.work, count + 1);
      leave(each);
      const backoff = Math.min(BACKOFF_SECONDS * 2 ** count, MAX_BACKOFF_SECONDS);
      waiting.push({ work: each.work, requeues: count + 1, from: second + backoff });
    }
  }

  function admit(): void {
    waiting.sort((a, b) => b.work.priority - a.work.priority || a.work.at - b.work.at);
    waiting = waiting.filter(({ work, from }) => {
      if (from > second || used + sizeOf(work) > quota) return true;
      used += sizeOf(work);
      admitted.set(work, { work, lackingSince: undefined, pods: podsOf(work) });
      return false;
    });
  }

  function schedule(): void {
    const pods = [...Array.from(admitted.values(), (each) => each.pods).flat(), ...ending];
    for (const each of scheduleAll({ ...scheduling, pods: new Set(pods), sizes: nodes, knows: () => true })) {
      delete each.pod.nominatedTo;
      if (each.kind === 'Bound') each.pod.node = each.node;
      if (each.kind !== 'Preempts') continue;
      each.pod.nominatedTo = each.node;
      for (const victim of each.victims) end(victim);
    }
  }

  return {
    arrive: (work) => void waiting.push({ work, requeues: 0, from: second }),
    step: () => {
      replace();
      requeueLate();
      admit();
      schedule();
      second += 1;
    },
    running: (work) =>
      (admitted.get(work)?.pods ?? []).filter(({ node, deletionAt }) => node !== undefined && deletionAt === undefined)
        .length,
    finish: (work) => {
      const each = admitted.get(work);
      if (each === undefined) return;
      admitted.delete(work);
      used -= sizeOf(work);
    },
  };
}
