import type { ClientContext } from '#shared/kube/client/client.ts';
import { createEventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createReflector, type Reflector } from '#shared/kube/reflector/reflector.ts';
import {
  DEPLOYMENTS,
  NAMESPACES,
  PDBS,
  PODS,
  REPLICA_SETS,
  RESOURCE_QUOTAS,
  type Resource,
} from '#shared/kube/resource.ts';
import { runRounds } from '#sandbox/run-rounds.ts';
import { emptyNamespace, planGarbage } from './plan-garbage.ts';
import { executeWrite, createExpectations, type Write } from './write.ts';
import { planBudget } from './plan-budget.ts';
import { planDeployment } from './plan-deployment.ts';
import { JOBS, planJob } from './plan-job.ts';
import { planQuota } from './plan-quota.ts';
import { planReplicaSet } from './plan-replica-set.ts';
import type { Budget, Deployment, Job, OwnedObject, ReplicaSet, RunningPod, World } from './wire-workloads.ts';

export type ControllerOptions = Pick<ClientContext, 'client' | 'clock' | 'log'>;

const GATHER_MS = 20;
const MAX_PAUSE_MS = 1_000;

/** The controllers that a demo needs, round after round until the signal aborts. Never rejects. */
export async function runControllers(options: ControllerOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, log } = options;
  const reflect = <T extends KubeObject>(resource: Resource): Reflector<T> =>
    createReflector<T>({ client, clock, log, resource, slim: (raw) => raw as T, random: Math.random });
  const pods = reflect<RunningPod>(PODS);
  const replicaSets = reflect<ReplicaSet>(REPLICA_SETS);
  const deployments = reflect<Deployment>(DEPLOYMENTS);
  const jobs = reflect<Job>(JOBS);
  const budgets = reflect<Budget>(PDBS);
  const quotas = reflect<KubeObject>(RESOURCE_QUOTAS);
  const namespaces = reflect<KubeObject>(NAMESPACES);
  const events = createEventRecorder({ client, component: 'kube-controller-manager', instance: 'sandbox', clock, log });
  const expectations = createExpectations(() => clock.monotonic());

  function lookAround(): World {
    return {
      pods: [...pods.values()],
      replicaSets: [...replicaSets.values()],
      deployments: [...deployments.values()],
      jobs: [...jobs.values()],
      budgets: [...budgets.values()],
      quotas: [...quotas.values()],
    };
  }

  async function round(): Promise<void> {
    const world = lookAround();
    const uids = new Set([...world.pods, ...world.replicaSets].map(({ metadata }) => metadata.uid));
    const isSettled = ({ metadata }: OwnedObject): boolean =>
      !expectations.isWaiting(metadata.uid ?? '', (uid) => uids.has(uid));
    for (const write of planWorld(world, isSettled, clock.now())) {
      if (signal.aborted) return;
      await executeWrite({ client, events, expectations, log }, write);
    }
    for (const { metadata } of namespaces.values()) {
      if (metadata.deletionTimestamp !== undefined) await emptyNamespace(client, metadata.name ?? '');
    }
  }

  const reflectors = [pods, replicaSets, deployments, jobs, budgets, quotas, namespaces];
  await runRounds({ reflectors, round, gatherMs: GATHER_MS, longestPauseMs: MAX_PAUSE_MS, clock, log }, signal);
}

/** All writes that the controllers plan for this state; owners with pending creations are skipped. */
export function planWorld(world: World, isSettled: (owner: OwnedObject) => boolean, now: number): readonly Write[] {
  return [
    ...world.deployments.filter(isSettled).flatMap((each) => planDeployment(each, world.replicaSets, now)),
    ...world.replicaSets.filter(isSettled).flatMap((each) => planReplicaSet(each, world.pods)),
    ...world.jobs.filter(isSettled).flatMap((each) => planJob(each, world.pods, now)),
    ...world.budgets.flatMap((each) => planBudget(each, world, now)),
    ...world.quotas.flatMap((each) => planQuota(each, world.pods, now)),
    ...planGarbage([
      { resource: PODS, objects: world.pods },
      { resource: REPLICA_SETS, objects: world.replicaSets },
      { resource: DEPLOYMENTS, objects: world.deployments },
      { resource: JOBS, objects: world.jobs },
    ]),
  ];
}
