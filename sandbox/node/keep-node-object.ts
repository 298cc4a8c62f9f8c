import { arch, release } from 'node:os';
import { repeat } from '#shared/runtime/repeat.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { microTime } from '#shared/kube/kube-object.ts';
import { createObject, patchObject } from '#shared/kube/client/objects.ts';
import { expectOk, type Outcome } from '#shared/kube/client/outcome.ts';
import { LEASES, NODES } from '#shared/kube/resource.ts';
import { timeText } from '#sandbox/api-server/wire/object.ts';
import { DEMO_IMAGES } from './containers/container-plan.ts';

export interface NodeObjectOptions extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  readonly facts: NodeFacts;
  readonly availableBytes: () => number;
}

const LEASE_NAMESPACE = 'kube-node-lease';
const LEASE_SECONDS = 40;
const HEARTBEAT_MS = 10_000;
/** How often to check it; it is written only if a condition changes or a heartbeat is due. */
const LOOK_MS = 1_000;
const DEADLINE_MS = 10_000;

/** Registers the node, then keeps its status and its lease alive. */
export function keepNodeObject(options: NodeObjectOptions) {
  const { client, clock, log, facts } = options;
  const registered = Promise.withResolvers<undefined>();
  const since = new Map<string, { readonly status: string; readonly since: number }>();
  let heartbeatDueAt = -Infinity;

  async function look(): Promise<void> {
    const conditions = nodeConditions(options.availableBytes());
    const isNews = conditions.some(({ type, status }) => since.get(type)?.status !== status);
    if (!isNews && clock.monotonic() < heartbeatDueAt) return;
    if (heartbeatDueAt === -Infinity) await register();
    const now = clock.now();
    const status = { ...nodeStatus(facts), conditions: withTimes(conditions, since, now) };
    const address = { resource: NODES, name: facts.name };
    expectOk(
      await patchObject(client, { ...address, subresource: 'status' }, { status }, { type: 'strategic' }),
      'write the node status',
    );
    for (const { type, status: value } of conditions) {
      if (since.get(type)?.status !== value) since.set(type, { status: value, since: now });
    }
    await renewLease(now);
    heartbeatDueAt = clock.monotonic() + HEARTBEAT_MS;
    registered.resolve(undefined);
  }

  async function register(): Promise<void> {
    const created = await createObject(client, { resource: NODES }, nodeObject(facts));
    if (created.kind !== 'alreadyExists') expectOk(created, 'write the node');
  }

  async function renewLease(now: number): Promise<void> {
    const spec = { holderIdentity: facts.name, leaseDurationSeconds: LEASE_SECONDS, renewTime: microTime(now) };
    const address = { resource: LEASES, namespace: LEASE_NAMESPACE, name: facts.name };
    const renewed = await patchObject(client, address, { spec }, { type: 'merge' });
    expectOk(renewed.kind === 'notFound' ? await createLease(spec) : renewed, 'write the lease');
  }

  function createLease(spec: object): Promise<Outcome<unknown>> {
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: facts.name }, spec };
    return createObject(client, { resource: LEASES, namespace: LEASE_NAMESPACE }, lease);
  }

  const run = (signal: AbortSignal): Promise<void> =>
    repeat(
      {
        task: look,
        periodMs: LOOK_MS,
        deadlineMs: DEADLINE_MS,
        onError: (error) => log.warn({ err: error }, 'Node not reported'),
        clock,
      },
      signal,
    );
  return { registered: registered.promise, run };
}

export interface NodeFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Quantities as text, such as `4` and `1Gi`. */
  readonly cpu: string;
  readonly memory: string;
  readonly kubeletPort: number;
}

const MAX_PODS = '110';
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** A Node as a kubelet registers it; its capacity is virtual. */
function nodeObject(facts: NodeFacts) {
  const architecture = ARCHITECTURES[arch()] ?? arch();
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: facts.name,
      labels: {
        'kubernetes.io/hostname': facts.name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': architecture,
        ...facts.labels,
      },
    },
    spec: {},
  };
}

/** The status of that node. */
function nodeStatus(facts: NodeFacts) {
  const amounts = { cpu: facts.cpu, memory: facts.memory, pods: MAX_PODS };
  return {
    capacity: amounts,
    allocatable: amounts,
    addresses: [
      { type: 'InternalIP', address: '127.0.0.1' },
      { type: 'Hostname', address: facts.name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: facts.kubeletPort } },
    nodeInfo: {
      architecture: ARCHITECTURES[arch()] ?? arch(),
      operatingSystem: 'linux',
      osImage: 'Plimsoll sandbox',
      kernelVersion: release(),
      kubeletVersion: 'v1.36.3',
      containerRuntimeVersion: `plimsoll://${process.versions.node}`,
      kubeProxyVersion: '',
      machineID: '',
      systemUUID: '',
      bootID: '',
    },
    images: Object.keys(DEMO_IMAGES).map((name) => ({ names: [name], sizeBytes: 0 })),
  };
}

/** Below this the kubelet reports memory pressure (its default hard threshold, 100Mi). */
const SHORT_OF_MEMORY_BYTES = 100 * 1024 * 1024;

export interface NodeCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** The kubelet's conditions in its own words. This node only reports them: the agent evicts. */
function nodeConditions(availableBytes: number): readonly NodeCondition[] {
  return [
    memoryPressure(availableBytes < SHORT_OF_MEMORY_BYTES),
    quiet('DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    quiet('PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
  ];
}

function memoryPressure(isShort: boolean): NodeCondition {
  if (!isShort) return quiet('MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available');
  const message = 'kubelet has insufficient memory available';
  return { type: 'MemoryPressure', status: 'True', reason: 'KubeletHasInsufficientMemory', message };
}

function quiet(type: string, reason: string, message: string): NodeCondition {
  return { type, status: 'False', reason, message };
}

/** Conditions with their times; a transition is remembered from `before`. */
function withTimes(
  conditions: readonly NodeCondition[],
  before: ReadonlyMap<string, { readonly status: string; readonly since: number }>,
  now: number,
) {
  return conditions.map((each) => {
    const known = before.get(each.type);
    const since = known?.status === each.status ? known.since : now;
    return { ...each, lastHeartbeatTime: timeText(now), lastTransitionTime: timeText(since) };
  });
}
