import { queueDirectory } from '#shared/api/queue.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { ProposalRules } from '#shared/domain/preemption/proposal/proposal.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { keptByQueues } from '#shared/decide/queues/kept-by-queues.ts';
import { QueueCharges, PodAmounts } from '#shared/decide/queues/queue-charges.ts';
import {
  type SimulatedPlacement,
  type SchedulerSetup,
  simulatePlacement,
} from '#shared/decide/simulation/placement.ts';
import type { ClusterModel } from './cluster-model.ts';

/** What kube-scheduler would do with a pod in this cluster. */
export function placementOf(
  model: ClusterModel,
  pod: Pod,
  setup: Omit<SchedulerSetup, 'nominatedSince' | 'keptOn'>,
): SimulatedPlacement {
  const known = { nominatedSince: nominatedSince(model), keptOn: keptInCluster(model, setup.now) };
  return simulatePlacement(model, pod, { ...setup, ...known });
}

/** What the queues protect; computed only if the extender is called and there are Queues. */
function keptInCluster(model: ClusterModel, now: Instant): ProposalRules['keptOn'] {
  if (model.queues.length === 0) return undefined;
  return (preemptor) => keptByQueues({ ...queuesIn(model), now }, preemptor);
}

type QueuesIn = Omit<Parameters<typeof keptByQueues>[0], 'now'>;

/** One cluster may answer for many pods. */
const queuesOf = new WeakMap<ClusterModel, QueuesIn>();

function queuesIn(model: ClusterModel): QueuesIn {
  const known = queuesOf.get(model) ?? readQueues(model);
  queuesOf.set(model, known);
  return known;
}

function readQueues(model: ClusterModel): QueuesIn {
  const snapshot = createSnapshot(model);
  const amounts = new PodAmounts();
  const charges = new QueueCharges(amounts);
  for (const pod of model.pods) {
    const raw = model.podManifests.get(`${pod.namespace}/${pod.name}`)?.raw as KubeObject;
    charges.observe({ pod, raw }, snapshot);
  }
  return { snapshot, amounts, charges, directory: queueDirectory(model.queues) };
}

/**
 * Since when pods of the cluster are nominated: when the manager of `status.nominatedNodeName` last wrote its fields, by
 * `metadata.managedFields`.
 */
export function nominatedSince({ podManifests }: ClusterModel): (pod: Pod) => string | undefined {
  return ({ namespace, name }) => {
    const raw = podManifests.get(`${namespace}/${name}`)?.raw;
    const entries = fieldOf(fieldOf(raw, 'metadata'), 'managedFields');
    const writer = (Array.isArray(entries) ? (entries as readonly unknown[]) : []).find(
      (each) => fieldOf(fieldOf(fieldOf(each, 'fieldsV1'), 'f:status'), 'f:nominatedNodeName') !== undefined,
    );
    const time = fieldOf(writer, 'time');
    return typeof time === 'string' ? time : undefined;
  };
}
