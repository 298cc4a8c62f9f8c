import type { Pod } from '#shared/domain/pod/pod.ts';
import type { Signal } from '#shared/domain/pressure/signal.ts';
import {
  type Candidate,
  type Circumstances,
  prepareCandidate,
  rankingFacts,
} from '#shared/domain/ranking/candidate.ts';
import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';

/** What a test wants to say of a pod; everything else is left out. */
export interface PodWish {
  readonly namespace?: string;
  readonly uid?: string;
  readonly priority?: number;
  readonly requests?: Readonly<Record<string, string>>;
  readonly controller?: string;
  readonly startTime?: string;
  readonly spec?: object;
  readonly metadata?: object;
  readonly status?: object;
}

const NAMED = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n0'] }] }];
/** As the DaemonSet controller ties its pods to a node. */
const TIED = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: NAMED } } };

/** A pod with one container `c`, read from its wire form. */
export function pod(name: string, wish: PodWish = {}): Pod {
  const owner = { apiVersion: 'apps/v1', kind: wish.controller, name: 'owner', uid: 'owner', controller: true };
  const decoded = decodePod({
    metadata: {
      name,
      namespace: wish.namespace ?? 'default',
      uid: wish.uid ?? name,
      ...(wish.controller === undefined ? {} : { ownerReferences: [owner] }),
      ...wish.metadata,
    },
    spec: {
      priority: wish.priority,
      containers: [{ name: 'c', resources: { requests: wish.requests } }],
      ...(wish.controller === 'DaemonSet' && { affinity: TIED }),
      ...wish.spec,
    },
    status: { startTime: wish.startTime, ...wish.status },
  });
  if (!decoded.ok) throw new Error(`cannot build pod ${name}: ${decoded.field}: ${decoded.message}`);
  return decoded.value;
}

/** Statistics with the given figures and nothing else. */
export function usage(figures: Partial<PodUsage> & { readonly memoryBytes?: number } = {}): PodUsage {
  const { memoryBytes, ...rest } = figures;
  return {
    uid: '',
    memory: memoryBytes === undefined ? undefined : { at: 0, workingSetBytes: memoryBytes },
    processCount: undefined,
    cpuNanoCores: undefined,
    ioBytesPerSecond: undefined,
    ephemeralStorageBytes: undefined,
    containers: [],
    volumes: [],
    ...rest,
  };
}

/** A candidate for a signal on a node with one filesystem. */
export function candidate(
  of: Pod,
  figures: PodUsage | undefined,
  signal: Signal = 'memory.available',
  circumstances: Circumstances = {},
): Candidate {
  return prepareCandidate(rankingFacts(of), figures, { signal, layout: 'single' }, circumstances);
}

/** Names in their order. */
export function names(candidates: readonly Candidate[]): readonly string[] {
  return candidates.map(({ facts }) => facts.pod.name);
}
