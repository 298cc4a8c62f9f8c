import type { ContainerPort, Pod } from '#shared/domain/model/pod.ts';
import type { CompanyFilter } from './filter.ts';
import type { Refusal } from './refusal.ts';

const REFUSAL: Refusal = {
  filter: 'NodePorts',
  reasons: ["node(s) didn't have free ports for the requested pod ports"],
  mayBeHelped: true,
};

const EVERY_ADDRESS = '0.0.0.0';

/** A host port, with the defaults of its address and protocol written out. */
interface HostPort {
  readonly address: string;
  /** Protocol and number. */
  readonly port: string;
}

/** The host ports that the pod wants must be free. `plugins/nodeports/node_ports.go`. */
export function nodePorts(pod: Pod): CompanyFilter | undefined {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return undefined;
  return {
    open: ({ occupancy }) => {
      const taken = new Map(occupancy.pods.map((placed) => [placed, hostPorts(placed.pod)]));
      return {
        add: (placed) => taken.set(placed, hostPorts(placed.pod)),
        remove: (placed) => taken.delete(placed),
        refusal: () => (clashes(wanted, taken.values()) ? REFUSAL : undefined),
      };
    },
  };
}

/** Ports of the containers that run as long as the pod does. `pkg/scheduler/util/utils.go` GetHostPorts. */
function hostPorts(pod: Pod): readonly HostPort[] {
  const sidecars = pod.spec.initContainers.filter((container) => container.restartPolicy === 'Always');
  const ports = [...sidecars, ...pod.spec.containers].flatMap((container) => container.ports);
  return ports.filter((port) => port.hostPort > 0).map(toHostPort);
}

function toHostPort({ hostIP, hostPort, protocol }: ContainerPort): HostPort {
  return { address: hostIP || EVERY_ADDRESS, port: `${protocol || 'TCP'} ${hostPort}` };
}

/** `k8s.io/kube-scheduler/framework/types.go` HostPortInfo.CheckConflict. */
function clashes(wanted: readonly HostPort[], taken: Iterable<readonly HostPort[]>): boolean {
  for (const ports of taken) {
    if (ports.some((port) => wanted.some((other) => isSamePlace(port, other)))) return true;
  }
  return false;
}

function isSamePlace(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port) return false;
  return a.address === b.address || a.address === EVERY_ADDRESS || b.address === EVERY_ADDRESS;
}
