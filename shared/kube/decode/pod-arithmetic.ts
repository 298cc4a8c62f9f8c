import type { PodArithmetic } from '#shared/domain/pod/pod.ts';

let arithmetic: PodArithmetic = '1.36';

/**
 * Sets how the pods that this process decodes from now on are computed: as the API server of this version does, or for
 * the agent as its kubelet (such as `v1.37.2`). Nodes may be some minor versions behind their API server.
 */
export function computePodsAs(version: string): void {
  arithmetic = arithmeticOf(version);
}

/** How the pods that are decoded now are computed. */
export function podArithmetic(): PodArithmetic {
  return arithmetic;
}

/** The arithmetic of a version such as `v1.37.2-gke.1`; that of 1.36 for older ones and for what is no version. */
function arithmeticOf(version: string): PodArithmetic {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) > 1 || Number(minor) >= 37 ? '1.37' : '1.36';
}
