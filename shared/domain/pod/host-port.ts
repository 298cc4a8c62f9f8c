import type { Container, ContainerPort, Pod, PodSpec } from './pod.ts';
import { isSidecar } from './pod-resize.ts';

/** A port of the node that a pod uses, with defaults for address and protocol filled in. */
export interface HostPort {
  readonly address: string;
  /** Protocol and number. */
  readonly port: string;
}

const EVERY_ADDRESS = '0.0.0.0';

/** The host ports of the containers that run as long as the pod does. `pkg/scheduler/util/utils.go` GetHostPorts. */
export function hostPortsOf({ spec }: Pod): readonly HostPort[] {
  const lasting = [...spec.initContainers.filter(isSidecar), ...spec.containers];
  const ports = lasting.flatMap((container) => container.ports);
  return ports.filter((port) => port.hostPort > 0).map(toHostPort);
}

interface PortOwner extends Pick<PodSpec, 'initContainers'> {
  readonly ports: readonly HostPort[];
}

const KNOWN = new WeakMap<readonly Container[], PortOwner>();

/** As `hostPortsOf`, once for all pods that have the same containers: a pod can have thousands, and a Deployment many pods. */
export function sharedHostPorts(pod: Pod): readonly HostPort[] {
  const { containers, initContainers } = pod.spec;
  const known = KNOWN.get(containers);
  if (known?.initContainers === initContainers) return known.ports;
  const ports = hostPortsOf(pod);
  if (ports.length > 0) KNOWN.set(containers, { initContainers, ports });
  return ports;
}

/** True if two pods cannot both have their port. `k8s.io/kube-scheduler/framework/types.go` HostPortInfo.CheckConflict. */
export function isSamePort(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port) return false;
  return a.address === b.address || a.address === EVERY_ADDRESS || b.address === EVERY_ADDRESS;
}

function toHostPort({ hostIP, hostPort, protocol }: ContainerPort): HostPort {
  return { address: hostIP || EVERY_ADDRESS, port: `${protocol || 'TCP'} ${hostPort}` };
}
