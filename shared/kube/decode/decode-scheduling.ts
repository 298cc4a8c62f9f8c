import type {
  LabelSelector,
  NodeAffinity,
  NodeSelectorTerm,
  PodAffinityTerm,
  Requirement,
  SchedulingRules,
  Toleration,
  TopologySpreadConstraint,
} from '#shared/domain/pod/pod.ts';
import type { WireObject } from './wire-object.ts';
import { readInteger, readList, readObject, readClippedText, readTextMap, readTexts } from './wire-object.ts';

const EMPTY: WireObject = {};
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Reads what a `v1` PodSpec says about where the pod may run. */
export function readScheduling(spec: WireObject): SchedulingRules {
  return {
    nodeSelector: readTextMap(spec, 'nodeSelector'),
    tolerations: readList(spec, 'tolerations', readToleration),
    ...(readObject(spec, 'affinity', readAffinity) ?? readAffinity(EMPTY)),
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

type Affinity = Pick<SchedulingRules, 'nodeAffinity' | 'podAffinity' | 'podAntiAffinity' | 'preferredPodTerms'>;

function readAffinity(affinity: WireObject): Affinity {
  const near = readObject(affinity, 'podAffinity', readPodTerms) ?? readPodTerms(EMPTY);
  const apart = readObject(affinity, 'podAntiAffinity', readPodTerms) ?? readPodTerms(EMPTY);
  return {
    nodeAffinity: readObject(affinity, 'nodeAffinity', readNodeAffinity),
    podAffinity: near.required,
    podAntiAffinity: apart.required,
    preferredPodTerms: [...near.preferred, ...apart.preferred],
  };
}

function readNodeAffinity(affinity: WireObject): NodeAffinity | undefined {
  return readObject(affinity, REQUIRED, (required) => ({
    terms: readList(required, 'nodeSelectorTerms', readNodeSelectorTerm),
  }));
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
    preferred: readList(affinity, PREFERRED, (weighted) => {
      return readObject(weighted, 'podAffinityTerm', readPodTerm) ?? readPodTerm(EMPTY);
    }),
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
