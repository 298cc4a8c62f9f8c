import { createReflector, type Reflector, type ReflectorOptions } from '#shared/kube/reflector.ts';
import { CONFIG_MIRROR, isMirrorOfNode } from '#shared/domain/eviction/protection.ts';
import { decodePod } from '#shared/kube/decode-pod.ts';
import { isRecord, type KubeObject } from '#shared/kube/kube-object.ts';
import { PODS } from '#shared/kube/resource.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import { qosClass, reportedQosClass } from '#shared/domain/model/qos.ts';
import { rankingFacts, type RankingFacts } from '#shared/domain/ranking/candidate.ts';
import type { QosClass } from '#agent/observe/pod-cgroup-path.ts';
import type { ObservedPod } from '#agent/observe/node-source.ts';
import { podEssentials } from './pod-essentials.ts';

/** A pod of this node: what decides its rank, and where its statistics are. */
export interface NodePod {
  readonly facts: RankingFacts;
  readonly observed: ObservedPod;
}

type Options = Omit<ReflectorOptions<NodePod>, 'resource' | 'fieldSelector' | 'slim'>;

const KNOWN: readonly string[] = ['Guaranteed', 'Burstable', 'BestEffort'];

function cgroupQos(pod: Pod): QosClass {
  const reported = reportedQosClass(pod);
  return KNOWN.includes(reported) ? (reported as QosClass) : qosClass(pod);
}

/**
 * A static pod's group carries the hash of its manifest; the API server's UID is that of its mirror. The annotation of
 * any other pod is its owner's text, and would name another pod's group.
 */
function cgroupUidOf(pod: Pod): string {
  const hash = isMirrorOfNode(pod) ? pod.annotations.get(CONFIG_MIRROR) : undefined;
  return hash ?? pod.uid;
}

/** `containerd://ID` in each container status; those of init containers too, since sidecars are among them. */
function containersOf({ status }: KubeObject): ObservedPod['containers'] {
  if (!isRecord(status)) return [];
  const statuses = [status['containerStatuses'], status['initContainerStatuses']].filter(Array.isArray).flat();
  return statuses.filter(isRecord).flatMap(({ name, containerID }) => {
    const id = typeof containerID === 'string' ? containerID.split('://')[1] : undefined;
    return typeof name === 'string' && id !== undefined && isPathSegment(id) ? [{ name, id }] : [];
  });
}

/** Ids become part of a path below the cgroup root. */
function isPathSegment(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,253}$/.test(text);
}

/** Throws for a pod that cannot be read: it is then unknown, and no other pod is harmed (F-21). */
export function slimPod(raw: KubeObject): NodePod {
  const decoded = decodePod(raw);
  if (!decoded.ok)
    throw new Error(`cannot read pod "${raw.metadata.name ?? ''}": ${decoded.field}: ${decoded.message}`);
  const pod = decoded.value;
  const cgroupUid = cgroupUidOf(pod);
  if (!isPathSegment(cgroupUid)) throw new Error(`cannot read pod "${pod.name}": its UID is no name of a cgroup`);
  return {
    facts: { ...rankingFacts(pod), pod: podEssentials(pod) },
    observed: { uid: pod.uid, cgroup: { uid: cgroupUid, qos: cgroupQos(pod) }, containers: containersOf(raw) },
  };
}

/** A live copy of the pods bound to this node, and of no others. */
export function createNodePods(nodeName: string, options: Options): Reflector<NodePod> {
  return createReflector({ ...options, resource: PODS, fieldSelector: `spec.nodeName=${nodeName}`, slim: slimPod });
}
