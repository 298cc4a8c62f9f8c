import { resourceOf, type Signal } from '#shared/domain/pressure/signal.ts';

/**
 * Whether a signal is only reported: for disks, only the kubelet can remove dead containers and unused images before it
 * evicts a pod (docs/decisions/0012-disks-are-the-kubelets.md).
 */
export function isLeftToKubelet(signal: Signal): boolean {
  const resource = resourceOf(signal);
  return resource === 'ephemeral-storage' || resource === 'inodes';
}
