import type { Container, Pod, SchedulingRules } from '#shared/domain/pod/pod.ts';
import { DISRUPTION_TARGET } from '#agent/decide/snapshot/node-snapshot.ts';

/** Annotations that the agent reads are a word or a hash; longer values are user data. */
const LONGEST_VALUE = 256;
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
 * limits and other conditions are dropped: for 500 real pods they take 3 MiB on every node.
 */
export function podEssentials(pod: Pod): Pod {
  const { spec, status } = pod;
  return {
    ...pod,
    labels: NO_TEXTS,
    annotations: withoutData(pod.annotations),
    spec: {
      ...spec,
      containers: spec.containers.map(requestsOf),
      initContainers: spec.initContainers.map(requestsOf),
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

/** Every key stays, because for some annotations their presence counts. */
function withoutData(annotations: Pod['annotations']): Pod['annotations'] {
  const short = Array.from(annotations, ([key, value]) => [key, value.length > LONGEST_VALUE ? '' : value] as const);
  return annotations.size === 0 ? NO_TEXTS : new Map(short);
}

function requestsOf({ name, resources, restartPolicy }: Container): Container {
  return { name, resources: { requests: resources.requests, limits: undefined }, restartPolicy, ports: [] };
}
