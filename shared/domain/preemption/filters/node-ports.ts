import { memoize } from '#shared/domain/model/memoize.ts';
import { hostPortsOf, isSamePort, type HostPort } from '#shared/domain/pod/host-port.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { PodAwareFilter } from './filter.ts';
import type { Refusal } from './refusal.ts';

const REFUSAL: Refusal = {
  filter: 'NodePorts',
  reasons: ["node(s) didn't have free ports for the requested pod ports"],
  isResolvable: true,
};

/** The host ports that the pod wants must be free. `plugins/nodeports/node_ports.go`. */
export function nodePorts(pod: Pod): PodAwareFilter | undefined {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0) return undefined;
  const byPort = Map.groupBy(wanted, ({ port }) => port);
  const isClashing = memoize((ports: readonly HostPort[]) => ports.some((port) => isWanted(byPort, port)));
  const clashes = ({ hostPorts }: PlacedPod): boolean => hostPorts.length > 0 && isClashing(hostPorts);
  return {
    open: ({ occupancy }) => {
      let clashing = occupancy.pods.filter(clashes).length;
      return {
        add: (placed) => (clashing += Number(clashes(placed))),
        remove: (placed) => (clashing -= Number(clashes(placed))),
        refusal: () => (clashing > 0 ? REFUSAL : undefined),
      };
    },
  };
}

function isWanted(wanted: ReadonlyMap<string, readonly HostPort[]>, port: HostPort): boolean {
  return wanted.get(port.port)?.some((other) => isSamePort(port, other)) ?? false;
}
