import { type Amounts, NO_AMOUNTS } from '#shared/domain/quantity/quantity.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { qosClass } from '#shared/domain/pod/pod-requests.ts';
import type {
  Pod,
  PodAffinityTerm,
  PodSpec,
  SchedulingRules,
  TopologySpreadConstraint,
} from '#shared/domain/pod/pod.ts';
import type { LabelSelector } from '#shared/domain/labels/label-selector.ts';

type Texts = Readonly<Record<string, string>>;

export interface PodFields {
  readonly name: string;
  readonly namespace?: string;
  readonly node?: string;
  readonly priority?: number;
  readonly requests?: Texts;
  readonly limits?: Texts;
  readonly labels?: Texts;
  readonly startedAt?: number;
  readonly hostPorts?: readonly number[];
  readonly nominatedTo?: string;
  readonly phase?: string;
  readonly deletion?: Pod['deletion'];
  readonly conditions?: Pod['status']['conditions'];
  readonly scheduling?: Partial<SchedulingRules>;
  readonly spec?: Partial<PodSpec>;
  readonly owners?: Pod['owners'];
}

/** A pod with one container; what is not given is absent. The UID is `uid-NAME`, the QoS class is left to the spec. */
export function buildPod(fields: PodFields): Pod {
  return {
    namespace: fields.namespace ?? 'default',
    name: fields.name,
    generateName: undefined,
    uid: `uid-${fields.name}`,
    resourceVersion: undefined,
    labels: mapOf(fields.labels),
    annotations: new Map(),
    owners: fields.owners ?? [],
    createdAt: undefined,
    deletion: fields.deletion,
    spec: buildSpec(fields),
    status: {
      phase: fields.phase,
      qosClass: undefined,
      startTime: fields.startedAt,
      nominatedNodeName: fields.nominatedTo,
      conditions: fields.conditions ?? [],
      containers: [],
      initContainers: [],
      resources: undefined,
      allocatedResources: undefined,
    },
  };
}

/** The pod as the API server stores it: with the QoS class that follows from its spec. */
export function storedPod(pod: Pod): Pod {
  return { ...pod, status: { ...pod.status, qosClass: qosClass(pod) } };
}

function buildSpec(fields: PodFields): PodSpec {
  const ports = (fields.hostPorts ?? []).map((hostPort) => ({ hostPort, hostIP: '', protocol: '' }));
  const limits = fields.limits === undefined ? undefined : amountsOf(fields.limits);
  const resources = { requests: amountsOf(fields.requests), limits };
  return {
    nodeName: fields.node,
    priorityClassName: undefined,
    priority: fields.priority,
    preemptionPolicy: undefined,
    containers: [{ name: 'main', resources, restartPolicy: undefined, ports }],
    initContainers: [],
    overhead: new Map(),
    resources: undefined,
    activeDeadlineSeconds: undefined,
    terminationGracePeriodSeconds: undefined,
    volumes: [],
    resourceClaims: [],
    hostNetwork: false,
    scheduling: { ...NO_RULES, ...fields.scheduling },
    ...fields.spec,
  };
}

const NO_RULES: SchedulingRules = {
  nodeSelector: new Map(),
  tolerations: [],
  nodeAffinity: undefined,
  podAffinity: [],
  podAntiAffinity: [],
  topologySpread: [],
  preferredPodTerms: [],
  preferredNodeTerms: [],
};

export interface NodeFields {
  readonly name: string;
  readonly labels?: Texts;
  readonly allocatable?: Texts;
  readonly taints?: Node['taints'];
  readonly isUnschedulable?: boolean;
}

/** A node with its host name as label and 110 pod slots, unless said otherwise. */
export function buildNode(fields: NodeFields): Node {
  return {
    name: fields.name,
    uid: `uid-${fields.name}`,
    labels: mapOf({ 'kubernetes.io/hostname': fields.name, ...fields.labels }),
    taints: fields.taints ?? [],
    isUnschedulable: fields.isUnschedulable ?? false,
    allocatable: amountsOf({ pods: '110', ...fields.allocatable }),
  };
}

/** A budget over the pods with these labels in namespace `default`. */
export function buildBudget(name: string, labels: Texts, disruptionsAllowed: number): DisruptionBudget {
  return { namespace: 'default', name, selector: selectorOf(labels), disruptionsAllowed, disruptedPods: new Set() };
}

/** A required term on pods with these labels in the same namespace. */
export function buildTerm(labels: Texts, topologyKey = 'kubernetes.io/hostname'): PodAffinityTerm {
  return {
    topologyKey,
    labelSelector: selectorOf(labels),
    namespaces: [],
    namespaceSelector: undefined,
    matchLabelKeys: [],
    mismatchLabelKeys: [],
  };
}

/** A required spread over a topology of pods labelled `app: a`, at most one more in one domain than in another. */
export function buildSpread(
  topologyKey: string,
  changes: Partial<TopologySpreadConstraint> = {},
): TopologySpreadConstraint {
  return {
    topologyKey,
    maxSkew: 1,
    minDomains: undefined,
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: selectorOf({ app: 'a' }),
    matchLabelKeys: [],
    nodeAffinityPolicy: undefined,
    nodeTaintsPolicy: undefined,
    ...changes,
  };
}

export function selectorOf(labels: Texts): LabelSelector {
  return { matchLabels: mapOf(labels), matchExpressions: [] };
}

export function mapOf(texts: Texts = {}): ReadonlyMap<string, string> {
  return new Map(Object.entries(texts));
}

/** Amounts from their texts; a text that is no quantity is a mistake of the test. */
export function amountsOf(texts: Texts = {}): Amounts {
  return new Map(
    Object.entries(texts).map(([name, text]) => {
      const parsed = parseQuantity(text);
      if (!parsed.ok) throw new Error(`cannot build a pod with "${text}": ${parsed.error}`);
      return [name, parsed.quantity];
    }),
  );
}

/** The settings of a PriorityQuota that nearly every test leaves alone. */
export const PLAIN_QUOTA: Pick<PriorityQuota, 'defaultRequest' | 'requireLabel'> = {
  defaultRequest: NO_AMOUNTS,
  requireLabel: false,
};
