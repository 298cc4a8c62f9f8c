import type {
  NodeAffinity,
  NodeSelectorTerm,
  PodAffinityTerm,
  SchedulingRules,
  Toleration,
  TopologySpreadConstraint,
  WeightedNodeTerm,
} from '#shared/domain/pod/pod.ts';
import type { LabelSelector, Requirement } from '#shared/domain/labels/label-selector.ts';
import type { WireObject } from './wire-object.ts';
import { readClippedText, readInteger, readList, readObject, readPart, readTextMap, readTexts } from './wire-object.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

const NO_AFFINITY: Affinity = {
  nodeAffinity: undefined,
  podAffinity: [],
  podAntiAffinity: [],
  preferredPodTerms: [],
  preferredNodeTerms: [],
};

/** Decodes the parts of a `v1` PodSpec that restrict where the pod may run. */
export function readScheduling(spec: WireObject): SchedulingRules {
  return {
    nodeSelector: readTextMap(spec, 'nodeSelector'),
    tolerations: readList(spec, 'tolerations', readToleration),
    ...(readObject(spec, 'affinity', readAffinity) ?? NO_AFFINITY),
    topologySpread: readList(spec, 'topologySpreadConstraints', readSpreadConstraint),
  };
}

/** Reads a `metav1` LabelSelector. */
export function readSelector(object: WireObject, key: string): LabelSelector | undefined {
  return readObject(object, key, (selector) => ({
    matchLabels: readTextMap(selector, 'matchLabels'),
    matchExpressions: readList(selector, 'matchExpressions', readRequirement),
  }));
}

type Affinity = Omit<SchedulingRules, 'nodeSelector' | 'tolerations' | 'topologySpread'>;

function readAffinity(affinity: WireObject): Affinity {
  const near = readPart(affinity, 'podAffinity', readPodTerms);
  const apart = readPart(affinity, 'podAntiAffinity', readPodTerms);
  return {
    nodeAffinity: readObject(affinity, 'nodeAffinity', readNodeAffinity),
    podAffinity: near.required,
    podAntiAffinity: apart.required,
    preferredPodTerms: [...near.preferred, ...apart.preferred.map((term) => ({ ...term, weight: -term.weight }))],
    preferredNodeTerms: readPart(affinity, 'nodeAffinity', (node) => readList(node, PREFERRED, readWeightedNodeTerm)),
  };
}

function readNodeAffinity(affinity: WireObject): NodeAffinity | undefined {
  return readObject(affinity, REQUIRED, (required) => ({
    terms: readList(required, 'nodeSelectorTerms', readNodeSelectorTerm),
  }));
}

function readWeightedNodeTerm(preferred: WireObject): WeightedNodeTerm {
  return {
    weight: readInteger(preferred, 'weight') ?? 0,
    term: readPart(preferred, 'preference', readNodeSelectorTerm),
  };
}

function readNodeSelectorTerm(term: WireObject): NodeSelectorTerm {
  return {
    matchExpressions: readList(term, 'matchExpressions', readRequirement),
    matchFields: readList(term, 'matchFields', readRequirement),
  };
}

function readPodTerms(affinity: WireObject) {
  return {
    required: readList(affinity, REQUIRED, readPodTerm),
    preferred: readList(affinity, PREFERRED, (weighted) => ({
      ...readPart(weighted, 'podAffinityTerm', readPodTerm),
      weight: readInteger(weighted, 'weight') ?? 0,
    })),
  };
}

function readPodTerm(term: WireObject): PodAffinityTerm {
  return {
    topologyKey: readClippedText(term, 'topologyKey') ?? '',
    labelSelector: readSelector(term, 'labelSelector'),
    namespaces: readTexts(term, 'namespaces'),
    namespaceSelector: readSelector(term, 'namespaceSelector'),
    matchLabelKeys: readTexts(term, 'matchLabelKeys'),
    mismatchLabelKeys: readTexts(term, 'mismatchLabelKeys'),
  };
}

function readRequirement(requirement: WireObject): Requirement {
  return {
    key: readClippedText(requirement, 'key') ?? '',
    operator: readClippedText(requirement, 'operator') ?? '',
    values: readTexts(requirement, 'values'),
  };
}

function readToleration(toleration: WireObject): Toleration {
  return {
    key: readClippedText(toleration, 'key') ?? '',
    operator: readClippedText(toleration, 'operator') ?? '',
    value: readClippedText(toleration, 'value') ?? '',
    effect: readClippedText(toleration, 'effect') ?? '',
  };
}

function readSpreadConstraint(constraint: WireObject): TopologySpreadConstraint {
  return {
    topologyKey: readClippedText(constraint, 'topologyKey') ?? '',
    maxSkew: readInteger(constraint, 'maxSkew') ?? 0,
    minDomains: readInteger(constraint, 'minDomains'),
    whenUnsatisfiable: readClippedText(constraint, 'whenUnsatisfiable') ?? '',
    labelSelector: readSelector(constraint, 'labelSelector'),
    matchLabelKeys: readTexts(constraint, 'matchLabelKeys'),
    nodeAffinityPolicy: readClippedText(constraint, 'nodeAffinityPolicy'),
    nodeTaintsPolicy: readClippedText(constraint, 'nodeTaintsPolicy'),
  };
}
