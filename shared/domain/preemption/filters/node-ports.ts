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
  return {
    open: ({ occupancy }) => {
      let clashing = occupancy.pods.filter((placed) => clashes(placed, wanted)).length;
      return {
        add: (placed) => (clashing += Number(clashes(placed, wanted))),
        remove: (placed) => (clashing -= Number(clashes(placed, wanted))),
        refusal: () => (clashing > 0 ? REFUSAL : undefined),
      };
    },
  };
}

function clashes({ hostPorts }: PlacedPod, wanted: readonly HostPort[]): boolean {
  return hostPorts.some((port) => wanted.some((other) => isSamePort(port, other)));
}
