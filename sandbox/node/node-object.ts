import { arch, release } from 'node:os';
import { timeText } from '#sandbox/api-server/wire/time.ts';
import { DEMO_IMAGES } from './containers/demo-images.ts';

export interface NodeFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Quantities as text, such as `4` and `1Gi`. */
  readonly cpu: string;
  readonly memory: string;
  readonly kubeletPort: number;
}

const MOST_PODS = '110';
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** A Node as a kubelet registers it; its capacity is virtual. */
export function nodeObject(facts: NodeFacts) {
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
export function nodeStatus(facts: NodeFacts) {
  const amounts = { cpu: facts.cpu, memory: facts.memory, pods: MOST_PODS };
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

/** From here on the kubelet calls a node short of memory (its default hard threshold, 100Mi). */
const SHORT_OF_MEMORY_BYTES = 100 * 1024 * 1024;

export interface NodeCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** The kubelet's conditions in its own words. This node only says so: evicting is left to the agent. */
export function nodeConditions(availableBytes: number): readonly NodeCondition[] {
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
export function withTimes(
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
