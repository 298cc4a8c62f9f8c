import {
  declaredCapacity,
  declaredReclaim,
  decodeQueue,
  queueDirectory,
  queueFromTemplate,
  type QueueObject,
  writtenSettings,
} from '#shared/api/queue.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { claimedDaemonSet, hasEnded, type Pod } from '#shared/domain/pod/pod.ts';
import { decideChildren } from '#shared/domain/queue/child-queues.ts';
import { ineffectiveSettings, uncoveredGuarantees } from '#shared/domain/queue/queue-settings.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { isManaged } from '#shared/kube/annotations/annotations.ts';
import { ANNOTATION_ADMITTED, QUEUE_GATE } from '#shared/kube/api-names.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { fieldOf, isRecord, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { apiVersionOf, QUEUES } from '#shared/kube/resource.ts';
import type { ReclaimSettings } from '#shared/domain/queue/reclaim-settings.ts';
import { planPass, type QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import type { QueuePassInput } from '#shared/decide/queues/sort-pods.ts';
import { QueuedPods } from '#shared/decide/queues/queued-pods.ts';
import type { RoomInput } from '#shared/decide/queues/room-state.ts';
import { UnplacedPods } from '#shared/decide/queues/unplaced-pods.ts';
import { type ClusterModel, decodeManifest, storedModel } from '#cli/cluster/cluster-model.ts';
import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import { typeOf } from '#cli/manifests/parse-manifests.ts';

/** Pods without a node for which nodes are tried. */
const MAX_CHECKS = 200;

/** The cluster as the leader of the queues would see it now, and its decision. */
export interface QueueScene {
  readonly plan: QueuePlan;
  readonly room: RoomInput;
  /** What is written and has no effect, as sentences. */
  readonly faults: readonly string[];
}

/**
 * Plans as the leader does where the queue root says `reclaim.mode: Enforce`, after it has created queues from templates.
 * Throws an InputError for an invalid object.
 */
export function queueScene(read: ClusterManifests, by?: ReclaimSettings['by']): QueueScene {
  const model = storedModel(read);
  const snapshot = snapshotOf(model);
  const pods = new QueuedPods({ now: () => read.now });
  for (const pod of model.pods) pods.observe({ pod, raw: withGate(pod, model, snapshot) }, snapshot);
  const objects = read.manifests
    .filter((each) => typeOf(each) === typeOf({ apiVersion: apiVersionOf(QUEUES), kind: QUEUES.kind }))
    .map((each) => decodeManifest(each, decodeQueue));
  const { now } = read;
  const promises = new UnplacedPods({ checksPerPass: MAX_CHECKS });
  const reclaimBy = by ?? declaredReclaim(objects).by;
  const settings = { pods, snapshot, now, reclaimBy, promises, isReclaiming: true };
  const plan = planWith(objects, { ...settings, replacements: 'First' });
  const nothing = { isLeaving: () => false, isRefused: () => false, promises: [] };
  return { plan, faults: faultsOf(objects, plan), room: { plan, pods, snapshot, now, ...nothing } };
}

/** As the conditions of the queues say it. */
function faultsOf(objects: readonly QueueObject[], { directory: { tree }, available }: QueuePlan): readonly string[] {
  const ofQueues = objects.flatMap((object) => {
    const place = { tree, index: tree.indexes.get(object.name) ?? 0 };
    return ineffectiveSettings(writtenSettings(object), place).map((fault) => `queue ${object.name}: ${fault}`);
  });
  return [...ofQueues, ...uncoveredGuarantees(tree, available)];
}

type PlanSettings = Omit<QueuePassInput, 'directory' | 'capacity'>;

/** With the queues that the plan would create, as after the leader has created them. */
function planWith(objects: readonly QueueObject[], input: PlanSettings): QueuePlan {
  const settings = { directory: queueDirectory(objects), capacity: declaredCapacity(objects) };
  const plan = finish(planPass({ ...input, ...settings }));
  const { directory, wantedQueues, occupied } = plan;
  const known = { tree: directory.tree, created: [], made: [], occupied, now: input.now };
  const { create } = decideChildren({ ...known, wanted: wantedQueues.values() });
  const children = create.flatMap((child) => {
    const template = objects.find(({ name }) => name === child.parent)?.childTemplate;
    return template === undefined ? [] : [queueFromTemplate(child, template)];
  });
  return children.length === 0 ? plan : planWith([...objects, ...children], input);
}

/** Here only its owner shows that a pod belongs to a DaemonSet. */
function snapshotOf(model: ClusterModel): ClusterSnapshot {
  const snapshot = createSnapshot({ ...model, pods: model.pods.filter((pod) => !hasEnded(pod)) });
  for (const pod of model.pods) {
    const owner = claimedDaemonSet(pod);
    if (owner !== undefined) snapshot.daemonSets.set(`${pod.namespace}/${owner.name}`, owner.uid);
  }
  return snapshot;
}

/**
 * A pod without a node, as the API server would create it now: the file may label a namespace only to try out queues.
 */
function withGate(pod: Pod, { podManifests }: ClusterModel, { namespaces }: ClusterSnapshot): KubeObject {
  const raw = podManifests.get(`${pod.namespace}/${pod.name}`)?.raw as KubeObject;
  const { spec } = raw;
  const gates = itemsOf(fieldOf(spec, 'schedulingGates'));
  const isLetIn = (pod.spec.nodeName ?? '') !== '' || pod.annotations.has(ANNOTATION_ADMITTED);
  const isGated = gates.some((gate) => fieldOf(gate, 'name') === QUEUE_GATE);
  if (isLetIn || isGated || !isManaged(namespaces.get(pod.namespace))) return raw;
  return { ...raw, spec: { ...(isRecord(spec) ? spec : {}), schedulingGates: [...gates, { name: QUEUE_GATE }] } };
}
