import { isRecord } from '#shared/kube/decode/wire-object.ts';
import { onlyProfiles } from '#cli/cluster/scheduler-configuration.ts';
import {
  CONFIG_MAPS,
  DISRUPTION_ACCOUNTS,
  DISRUPTION_LIMITS,
  DISRUPTION_POLICIES,
  DISRUPTIONS,
  MUTATING_WEBHOOKS,
  NAMESPACES,
  NODE_PRESSURE_POLICIES,
  NODE_PRESSURES,
  NODES,
  PDBS,
  PODS,
  PRIORITY_CLASSES,
  PRIORITY_POLICIES,
  PRIORITY_QUOTAS,
  QUEUES,
  RESCHEDULING_POLICIES,
  RESOURCE_QUOTAS,
  VALIDATING_WEBHOOKS,
} from '#shared/kube/resource.ts';
import { WISH_ANNOTATIONS } from '#shared/kube/annotations/wishes.ts';
import {
  ANNOTATION_ADMITTED,
  ANNOTATION_ALLOW_PREEMPTION,
  ANNOTATION_CONFIRMED_GENERATION,
  FOREIGN_ALLOW_PREEMPTION,
} from '#shared/kube/api-names.ts';

/** Which fields are kept: `true` keeps the value, `EMPTY` only its presence; the same for each item of a list. */
export type KeptShape = true | typeof EMPTY | { readonly [field: string]: KeptShape };

const EMPTY = 'empty';
/** Default for every other field. */
const OTHERS = '*';

const ANNOTATIONS: KeptShape = {
  [ANNOTATION_ADMITTED]: true,
  [ANNOTATION_ALLOW_PREEMPTION]: true,
  [ANNOTATION_CONFIRMED_GENERATION]: true,
  [FOREIGN_ALLOW_PREEMPTION]: true,
  ...Object.fromEntries(WISH_ANNOTATIONS.map((name) => [name, true as const])),
  'kubernetes.io/config.source': true,
  'kubernetes.io/config.mirror': true,
};

const IDENTITY = { name: true, namespace: true, uid: true, labels: true, annotations: ANNOTATIONS } as const;
const CONDITION = { type: true, status: true, reason: true, message: true, lastTransitionTime: true } as const;

const CONTAINER = {
  name: true,
  resources: { requests: true, limits: true },
  restartPolicy: true,
  ports: { hostPort: true, hostIP: true, protocol: true },
} as const;

const CONTAINER_STATE = { terminated: { reason: true } } as const;

const CONTAINER_STATUS = {
  name: true,
  restartCount: true,
  state: CONTAINER_STATE,
  lastState: CONTAINER_STATE,
  resources: { requests: true, limits: true },
  allocatedResources: true,
} as const;

const POD: KeptShape = {
  metadata: {
    ...IDENTITY,
    creationTimestamp: true,
    deletionTimestamp: true,
    deletionGracePeriodSeconds: true,
    ownerReferences: { apiVersion: true, kind: true, name: true, uid: true, controller: true },
  },
  spec: {
    nodeName: true,
    schedulerName: true,
    schedulingGates: true,
    priorityClassName: true,
    priority: true,
    preemptionPolicy: true,
    containers: CONTAINER,
    initContainers: CONTAINER,
    overhead: true,
    resources: { requests: true, limits: true },
    activeDeadlineSeconds: true,
    terminationGracePeriodSeconds: true,
    volumes: { name: true, emptyDir: { medium: true, sizeLimit: true }, [OTHERS]: EMPTY },
    resourceClaims: { name: true },
    hostNetwork: true,
    restartPolicy: true,
    nodeSelector: true,
    tolerations: true,
    affinity: true,
    topologySpreadConstraints: true,
  },
  status: {
    phase: true,
    reason: true,
    qosClass: true,
    startTime: true,
    nominatedNodeName: true,
    conditions: CONDITION,
    containerStatuses: CONTAINER_STATUS,
    initContainerStatuses: CONTAINER_STATUS,
    resources: { requests: true, limits: true },
    allocatedResources: true,
  },
};

/** Without the parts about single pods. */
const QUEUE_STATUS: KeptShape = {
  deserved: true,
  allocated: true,
  used: true,
  pending: true,
  waitingPods: true,
  oldestWaiting: true,
};

const WEBHOOK_CONFIGURATION: KeptShape = {
  metadata: IDENTITY,
  webhooks: {
    name: true,
    clientConfig: { caBundle: true },
    rules: true,
    failurePolicy: true,
    reinvocationPolicy: true,
    namespaceSelector: true,
    matchConditions: { name: true },
  },
};

/** The fields that decisions, explanations and checks read, by kind; other kinds keep only their name. */
const SHAPES: ReadonlyMap<string, KeptShape> = new Map<string, KeptShape>([
  [PODS.kind, POD],
  [
    NODES.kind,
    {
      metadata: IDENTITY,
      spec: { taints: { key: true, value: true, effect: true }, unschedulable: true },
      status: { allocatable: true, capacity: true, conditions: { type: true, status: true, reason: true } },
    },
  ],
  [NAMESPACES.kind, { metadata: IDENTITY }],
  [PRIORITY_CLASSES.kind, { metadata: IDENTITY, value: true, globalDefault: true, preemptionPolicy: true }],
  [
    PDBS.kind,
    {
      metadata: { ...IDENTITY, generation: true },
      spec: { selector: true, minAvailable: true, maxUnavailable: true, unhealthyPodEvictionPolicy: true },
      status: {
        disruptionsAllowed: true,
        disruptedPods: true,
        currentHealthy: true,
        desiredHealthy: true,
        expectedPods: true,
        observedGeneration: true,
      },
    },
  ],
  [NODE_PRESSURE_POLICIES.kind, { metadata: IDENTITY, spec: true }],
  [NODE_PRESSURES.kind, { metadata: IDENTITY, spec: true, status: true }],
  [DISRUPTIONS.kind, { metadata: IDENTITY, spec: true, status: true }],
  [DISRUPTION_LIMITS.kind, { metadata: IDENTITY, spec: true }],
  [DISRUPTION_POLICIES.kind, { metadata: IDENTITY, spec: true }],
  [DISRUPTION_ACCOUNTS.kind, { metadata: IDENTITY, status: true }],
  [QUEUES.kind, { metadata: IDENTITY, spec: true, status: QUEUE_STATUS }],
  [RESCHEDULING_POLICIES.kind, { metadata: IDENTITY, spec: true }],
  [PRIORITY_POLICIES.kind, { metadata: IDENTITY, spec: true }],
  [PRIORITY_QUOTAS.kind, { metadata: IDENTITY, spec: true, status: { used: true, byNamespace: true } }],
  [RESOURCE_QUOTAS.kind, { metadata: IDENTITY, spec: true, status: { hard: true, used: true } }],
  [MUTATING_WEBHOOKS.kind, WEBHOOK_CONFIGURATION],
  [VALIDATING_WEBHOOKS.kind, WEBHOOK_CONFIGURATION],
  [CONFIG_MAPS.kind, { metadata: IDENTITY, data: true }],
]);

type RawObject = Readonly<Record<string, unknown>>;

/** An object of a kind, reduced to the fields that are kept; the caller adds `apiVersion` and `kind`. */
export function keepFields(kind: string, raw: RawObject): RawObject {
  const shape = SHAPES.get(kind) ?? { metadata: IDENTITY };
  const kept = keep(shape, kind === CONFIG_MAPS.kind ? onlyProfiles(raw) : raw);
  return isRecord(kept) ? kept : {};
}

function keep(shape: KeptShape, value: unknown): unknown {
  if (shape === true) return value;
  if (shape === EMPTY) return {};
  if (Array.isArray(value)) return value.map((item: unknown) => keep(shape, item));
  return isRecord(value) ? keepRecord(shape, value) : value;
}

function keepRecord(shape: Readonly<Record<string, KeptShape>>, value: RawObject): RawObject {
  const kept = Object.keys(value).flatMap((field) => {
    const inner = Object.hasOwn(shape, field) ? shape[field] : shape[OTHERS];
    const isKept = inner !== undefined && value[field] !== undefined && value[field] !== null;
    return isKept ? [[field, keep(inner, value[field])] as const] : [];
  });
  return Object.fromEntries(kept);
}
