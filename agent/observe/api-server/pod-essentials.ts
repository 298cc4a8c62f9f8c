import { CONFIG_MIRROR, CONFIG_SOURCE } from '#shared/domain/eviction/protection.ts';
import { isLocal } from '#shared/domain/ranking/measured-usage.ts';
import { filterAmounts } from '#shared/domain/quantity/amounts.ts';
import { BASIC_RESOURCES } from '#shared/domain/quantity/resource-columns.ts';
import { ANNOTATION_EVICT, FOREIGN_PREFER_NO_EVICTION } from '#shared/kube/api-names.ts';
import { asAllocated } from '#shared/domain/pod/pod-resize.ts';
import type { Container, Pod, SchedulingRules } from '#shared/domain/pod/pod.ts';
import { DISRUPTION_TARGET } from '#agent/decide/snapshot/node-snapshot.ts';

/** Annotations that the agent reads. A tenant may write thousands of others, which would fill the agent's memory. */
const READ_ANNOTATIONS: readonly string[] = [
  ANNOTATION_EVICT,
  FOREIGN_PREFER_NO_EVICTION,
  CONFIG_MIRROR,
  CONFIG_SOURCE,
];
/** They are a word or a hash; longer values are user data. */
const LONGEST_VALUE = 256;
/** Of each pod; the API server sets no limit to either. */
const MOST_CONTAINERS = 100;
const MOST_VOLUMES = 1_000;
const NO_TEXTS: ReadonlyMap<string, string> = new Map();
const NO_RULES: SchedulingRules = {
  nodeSelector: NO_TEXTS,
  tolerations: [],
  nodeAffinity: undefined,
  podAffinity: [],
  podAntiAffinity: [],
  preferredPodTerms: [],
  topologySpread: [],
};

/**
 * The part of a pod that decisions and messages need once its ranking facts are computed. Labels, scheduling rules,
 * limits and other conditions are dropped: for 500 real pods they take 3 MiB on every node. So are containers beyond a
 * hundred, which messages would name, and volumes that are not on the node's disk or beyond a thousand.
 */
export function podEssentials(pod: Pod): Pod {
  const { spec, status } = asAllocated(pod);
  return {
    ...pod,
    labels: NO_TEXTS,
    annotations: withoutData(pod.annotations),
    spec: {
      ...spec,
      containers: spec.containers.slice(0, MOST_CONTAINERS).map(requestsOf),
      initContainers: spec.initContainers.slice(0, MOST_CONTAINERS).map(requestsOf),
      volumes: spec.volumes.filter(isLocal).slice(0, MOST_VOLUMES),
      scheduling: NO_RULES,
    },
    status: {
      ...status,
      conditions: status.conditions.filter(({ type }) => type === DISRUPTION_TARGET),
      containers: [],
      initContainers: [],
    },
  };
}

/** A key stays even where its value is too long to mean anything, because for some annotations their presence counts. */
function withoutData(annotations: Pod['annotations']): Pod['annotations'] {
  const read = Array.from(annotations).filter(([key]) => READ_ANNOTATIONS.includes(key));
  const short = read.map(([key, value]) => [key, value.length > LONGEST_VALUE ? '' : value] as const);
  return short.length === 0 ? NO_TEXTS : new Map(short);
}

/** Of the resources that evictions hold against a container. */
function requestsOf({ name, resources, restartPolicy }: Container): Container {
  const requests = resources.requests && filterAmounts(resources.requests, (each) => BASIC_RESOURCES.includes(each));
  return { name, resources: { requests, limits: undefined }, restartPolicy, ports: [] };
}
