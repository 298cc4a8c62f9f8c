import type { Container, Pod, SchedulingRules } from '#shared/domain/model/pod.ts';
import { DISRUPTION_TARGET } from '#agent/decide/snapshot/node-snapshot.ts';

/** A wish or a mark of the kubelet is a word or a hash; what is longer is somebody's data. */
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
 * What the agent's decisions and words ask of a pod once its ranking facts are worked out. Labels, rules of placement,
 * limits and other conditions are let go: of 500 real pods they take 3 MiB on every node.
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

/** Every annotation is still there: for some it counts that they are. */
function withoutData(annotations: Pod['annotations']): Pod['annotations'] {
  const short = Array.from(annotations, ([key, value]) => [key, value.length > LONGEST_VALUE ? '' : value] as const);
  return annotations.size === 0 ? NO_TEXTS : new Map(short);
}

function requestsOf({ name, resources, restartPolicy }: Container): Container {
  return { name, resources: { requests: resources.requests, limits: undefined }, restartPolicy, ports: [] };
}
