import type { KubeClient } from '#shared/kube/client/client.ts';
import { call } from './kube-calls.ts';
import { WORKLOAD_IMAGE } from './image/workload-image.ts';

/** A pod that takes memory and keeps it. */
export interface Workload {
  readonly name: string;
  readonly mebibytes: number;
  /** How fast it takes it; at once by default. */
  readonly mebibytesPerSecond?: number;
  /** A pod without a request is BestEffort. */
  readonly requestMebibytes?: number;
  /** It runs in spare room of this size, and requests nothing of the node. */
  readonly spareMebibytes?: number;
  /** Whether its limits equal its requests. */
  readonly isGuaranteed?: boolean;
  /** `default` by default. */
  readonly namespace?: string;
  /** 5 by default. */
  readonly graceSeconds?: number;
  /** Whether it ignores SIGTERM. */
  readonly isDeaf?: boolean;
}

const AT_ONCE = 2_000;
const GRACE_SECONDS = 5;
/** A container is started within its own limit, which takes long on a slow processor. */
const CPU = '200m';

/** Where a pod is found. */
export function podPath({ name, namespace = 'default' }: Pick<Workload, 'name' | 'namespace'>): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** It may come to a node that is short of something already. */
export async function makePod(client: KubeClient, workload: Workload): Promise<void> {
  const { name, mebibytes, mebibytesPerSecond = AT_ONCE, graceSeconds = GRACE_SECONDS, isDeaf = false } = workload;
  const container = {
    name: 'main',
    image: WORKLOAD_IMAGE,
    args: [isDeaf ? 'stay' : 'grow', String(mebibytes), String(mebibytesPerSecond)],
    resources: resourcesOf(workload),
  };
  const spec = {
    terminationGracePeriodSeconds: graceSeconds,
    tolerations: [{ operator: 'Exists' }],
    containers: [container],
  };
  const path = podPath(workload).slice(0, -name.length - 1);
  await call(client, { method: 'POST', path, body: { metadata: { name }, spec } });
}

function resourcesOf({ requestMebibytes, spareMebibytes, isGuaranteed = false }: Workload): object {
  if (spareMebibytes !== undefined) {
    const limits = { 'plimsoll.dev/spare-memory': `${spareMebibytes}Mi` };
    return { requests: { cpu: '0', memory: '0', ...limits }, limits };
  }
  if (requestMebibytes === undefined) return {};
  const requests = { cpu: CPU, memory: `${requestMebibytes}Mi` };
  return isGuaranteed ? { requests, limits: requests } : { requests };
}
