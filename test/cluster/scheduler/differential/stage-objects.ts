import { pod } from '#test/contract/harness.ts';
import type {
  IncomingPod,
  RunningPod,
  StageBudget,
  StageCluster,
  StageNode,
  StagePod,
  Topology,
} from './stage-cluster.ts';

/** CSI driver, DRA driver and the classes that all stages share. */
const DRIVER = 'volumes.test';
const DEVICES = 'devices.test';
const RUNTIME_CLASS = 'with-overhead';
/** Above every pod that comes: kube-scheduler alone never preempts it. */
const IMMUNE = 1_000_000_000;
/** The label of a pod that says which of the scenario it is. */
export const ROLE = 'role';

/** An object to create, and a status to write after that where the API server ignores it in the request. */
export interface Made {
  readonly path: string;
  readonly body: object;
  readonly status?: object;
}

/** A scenario in a namespace, with nodes of its own. */
export interface Setting {
  readonly id: string;
  readonly cluster: StageCluster;
  /** Of the incoming pods, unless they ask the other one. */
  readonly scheduler: string;
  readonly otherScheduler: string;
  /** What stands for an opt-out: the class that says so, or a priority that kube-scheduler alone respects. */
  readonly protection: 'OptOut' | 'Immune';
}

/** Objects that all stages share: classes for these scenarios, the runtime class and the device class. */
export function sharedObjects(clusters: readonly StageCluster[]): readonly Made[] {
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  const priorities = new Set(
    clusters.flatMap(({ running, incoming }) => [...running, ...incoming]).map((each) => each.priority),
  );
  const annotations = { 'plimsoll.dev/allow-preemption': 'false' };
  const never = { preemptionPolicy: 'Never' };
  return [
    ...[...priorities].flatMap((value) => [
      { path: classes, body: { metadata: { name: `goes-${value}` }, value } },
      { path: classes, body: { metadata: { name: `stays-${value}`, annotations }, value } },
      { path: classes, body: { metadata: { name: `never-${value}` }, value, ...never } },
    ]),
    { path: classes, body: { metadata: { name: 'immune' }, value: IMMUNE } },
    {
      path: '/apis/node.k8s.io/v1/runtimeclasses',
      body: { metadata: { name: RUNTIME_CLASS }, handler: 'any', overhead: { podFixed: { cpu: '1' } } },
    },
    {
      path: '/apis/resource.k8s.io/v1/deviceclasses',
      body: {
        metadata: { name: DEVICES },
        spec: { selectors: [{ cel: { expression: `device.driver == "${DEVICES}"` } }] },
      },
    },
  ];
}

/** A node with what belongs to it: attach limits and devices. */
export function nodeObjects(
  { id }: Setting,
  { name, zone, cpu, slots, attachLimit, devices }: StageNode,
): readonly Made[] {
  const node = `${id}-${name}`;
  const amounts = { cpu: String(cpu), memory: '32Gi', pods: String(slots) };
  const conditions = [{ type: 'Ready', status: 'True', reason: 'Fake' }];
  const labels = { 'kubernetes.io/hostname': node, stage: id, zone: `${id}-${zone}` };
  const drivers =
    attachLimit === undefined
      ? []
      : [{ name: DRIVER, nodeID: node, topologyKeys: [], allocatable: { count: attachLimit } }];
  const pool = { name: node, generation: 1, resourceSliceCount: 1 };
  const slice = { driver: DEVICES, nodeName: node, pool, devices: [{ name: 'device-0' }] };
  return [
    {
      path: '/api/v1/nodes',
      body: { metadata: { name: node, labels }, status: { capacity: amounts, allocatable: amounts, conditions } },
    },
    { path: '/apis/storage.k8s.io/v1/csinodes', body: { metadata: { name: node }, spec: { drivers } } },
    ...(devices > 0
      ? [{ path: '/apis/resource.k8s.io/v1/resourceslices', body: { metadata: { name: node }, spec: slice } }]
      : []),
  ];
}

/** The volumes and device claims that a pod names. */
export function claimsOf({ id }: Setting, { name, volume, usesDevice }: StagePod): readonly Made[] {
  const claim = {
    metadata: { name },
    spec: { devices: { requests: [{ name: 'one', exactly: { deviceClassName: DEVICES } }] } },
  };
  return [
    ...(volume === undefined ? [] : volumeObjects(id, name, volume.node)),
    ...(usesDevice === true ? [{ path: `/apis/resource.k8s.io/v1/namespaces/${id}/resourceclaims`, body: claim }] : []),
  ];
}

function volumeObjects(id: string, name: string, node: string | undefined): readonly Made[] {
  const shape = { accessModes: ['ReadWriteOnce'], storageClassName: '' };
  const volumeName = `${id}-${name}`;
  const spec = {
    ...shape,
    capacity: { storage: '1Gi' },
    csi: { driver: DRIVER, volumeHandle: volumeName },
    claimRef: { namespace: id, name },
    ...(node !== undefined && { nodeAffinity: { required: { nodeSelectorTerms: [hostnameIn([`${id}-${node}`])] } } }),
  };
  const claim = { ...shape, volumeName, resources: { requests: { storage: '1Gi' } } };
  return [
    { path: '/api/v1/persistentvolumes', body: { metadata: { name: volumeName }, spec } },
    { path: `/api/v1/namespaces/${id}/persistentvolumeclaims`, body: { metadata: { name }, spec: claim } },
  ];
}

export function budgetObject({ id }: Setting, { app, minAvailable }: StageBudget): Made {
  const spec = { minAvailable, selector: { matchLabels: { app } } };
  return { path: `/apis/policy/v1/namespaces/${id}/poddisruptionbudgets`, body: { metadata: { name: app }, spec } };
}

/** A pod on its node, as its kubelet reports it. */
export function runningObject(setting: Setting, running: RunningPod): Made {
  const { node, isProtected, leaving, priority, graceSeconds } = running;
  // A terminating pod can no longer be preempted, so kube-scheduler alone has to see its own priority.
  const immune = setting.protection === 'Immune' && leaving === undefined ? 'immune' : `stays-${priority}`;
  const spec = {
    nodeName: `${setting.id}-${node}`,
    priorityClassName: isProtected ? immune : `goes-${priority}`,
    terminationGracePeriodSeconds: leaving?.graceSeconds ?? graceSeconds,
  };
  const conditions = [{ type: 'Ready', status: 'True' }];
  const status = { phase: 'Running', startTime: '2026-01-01T00:00:00Z', conditions };
  return { ...podObject(setting, running, spec), status };
}

export function incomingObject(setting: Setting, incoming: IncomingPod): Made {
  const { id, scheduler, otherScheduler } = setting;
  const { isForOther, neverPreempts, priority, graceSeconds } = incoming;
  const preferred = incoming.prefers.map((node, index) => ({
    weight: 100 - 10 * index,
    preference: hostnameIn([`${id}-${node}`]),
  }));
  const spec = {
    schedulerName: isForOther ? otherScheduler : scheduler,
    nodeSelector: { stage: id },
    priorityClassName: `${neverPreempts ? 'never' : 'goes'}-${priority}`,
    terminationGracePeriodSeconds: graceSeconds,
  };
  return podObject(setting, incoming, spec, {
    nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred },
  });
}

function podObject({ id }: Setting, from: StagePod, given: object, affinity: object = {}): Made {
  const { name, app, hasOverhead, spread, antiAffinity } = from;
  const selectorOf = (labels: object): object => ({ labelSelector: { matchLabels: labels } });
  const apart = antiAffinity && [{ ...selectorOf({ app: antiAffinity.app }), topologyKey: keyOf(antiAffinity) }];
  const evenly = spread && {
    maxSkew: 1,
    topologyKey: keyOf(spread),
    whenUnsatisfiable: 'DoNotSchedule',
    ...selectorOf({ app: spread.app }),
  };
  const spec = {
    ...given,
    ...containersOf(from),
    ...(hasOverhead === true && { runtimeClassName: RUNTIME_CLASS }),
    affinity: {
      ...affinity,
      ...(apart && { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: apart } }),
    },
    ...(evenly && { topologySpreadConstraints: [evenly] }),
  };
  return { path: `/api/v1/namespaces/${id}/pods`, body: pod(name, spec, { labels: { app, [ROLE]: name } }) };
}

function containersOf({ name, cpu, hostPort, sidecarCpu, volume, usesDevice }: StagePod): object {
  const image = 'registry.test/idle:1';
  const requests = (amount: number): object => ({ requests: { cpu: String(amount) } });
  const ports = hostPort === undefined ? [] : [{ containerPort: hostPort, hostPort }];
  const sidecar = { name: 'sidecar', image, restartPolicy: 'Always' };
  return {
    containers: [
      {
        name: 'main',
        image,
        ports,
        resources: { ...requests(cpu), ...(usesDevice === true && { claims: [{ name: 'device' }] }) },
      },
    ],
    ...(sidecarCpu !== undefined && { initContainers: [{ ...sidecar, resources: requests(sidecarCpu) }] }),
    ...(volume !== undefined && { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }] }),
    ...(usesDevice === true && { resourceClaims: [{ name: 'device', resourceClaimName: name }] }),
  };
}

function keyOf({ by }: Topology): string {
  return by === 'hostname' ? 'kubernetes.io/hostname' : 'zone';
}

function hostnameIn(values: readonly string[]): object {
  return { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }] };
}
