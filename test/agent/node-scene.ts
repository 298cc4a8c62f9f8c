import type { Because } from '#shared/domain/base/because.ts';
import type { Owner, Pod } from '#shared/domain/pod/pod.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import type { NodeReadings } from '#shared/domain/pressure/signal.ts';
import { isOfGang } from '#shared/kube/annotations/gangs.ts';
import { rankingFacts } from '#shared/domain/ranking/candidate.ts';
import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import {
  NO_RECLAIM_RATES,
  NO_POD_PRESSURES,
  indexPods,
  type NodeSnapshot,
} from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { type AgentPolicy, DEFAULT_POLICY } from '#shared/api/node-pressure-policy/policy.ts';
import { buildPod, type PodFields } from '#test/build/cluster.ts';

export const MIB = 1024 * 1024;

/** A pod on the node with what it uses; `usageMiB` undefined means no statistics. */
export interface NodePod extends PodFields {
  readonly usageMiB?: number;
  readonly cpuNanoCores?: number;
  readonly processCount?: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: string;
  readonly ownerKind?: string;
  readonly uid?: string;
  /** When it came to the node; absent: before the agent started. */
  readonly cameAt?: number;
}

/** The domain pod of a scene's pod. */
export function nodePod(fields: NodePod): Pod {
  const scheduling = fields.ownerKind === 'DaemonSet' ? tiedTo(fields.node ?? 'node-a') : {};
  const pod = buildPod({ phase: 'Running', scheduling, ...fields });
  const annotations = new Map(Object.entries(fields.annotations ?? {}));
  return { ...pod, uid: fields.uid ?? pod.uid, annotations, owners: ownersOf(fields) };
}

/** As the DaemonSet controller ties its pods to a node. */
function tiedTo(node: string): NonNullable<PodFields['scheduling']> {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  return { nodeAffinity: { terms: [{ matchExpressions: [], matchFields }] } };
}

function ownersOf({ owner, ownerKind = 'ReplicaSet' }: NodePod): readonly Owner[] {
  if (owner === undefined) return [];
  const apiVersion = ownerKind === 'Node' ? 'v1' : 'apps/v1';
  return [{ apiVersion, kind: ownerKind, name: owner, uid: `uid-${owner}`, isController: true }];
}

/** What a kubelet makes of a static pod of its node. */
export const MIRROR_POD: Partial<NodePod> = {
  annotations: { 'kubernetes.io/config.mirror': 'hash', 'kubernetes.io/config.source': 'file' },
  node: 'node-a',
  owner: 'node-a',
  ownerKind: 'Node',
};

function usageOf(fields: NodePod): PodUsage {
  const bytes = fields.usageMiB === undefined ? undefined : fields.usageMiB * MIB;
  return {
    uid: fields.uid ?? `uid-${fields.name}`,
    memory: bytes === undefined ? undefined : { at: undefined, workingSetBytes: bytes },
    processCount: fields.processCount,
    cpuNanoCores: fields.cpuNanoCores,
    ioBytesPerSecond: undefined,
    ephemeralStorageBytes: undefined,
    containers: [
      {
        name: 'main',
        workingSetBytes: bytes,
        rootfs: { usedBytes: undefined, inodesUsed: undefined },
        logs: { usedBytes: undefined, inodesUsed: undefined },
      },
    ],
    volumes: [],
  };
}

function arrivalsOf(pods: readonly NodePod[]): ReadonlyMap<string, number> {
  return new Map(pods.flatMap(({ name, cameAt }) => (cameAt === undefined ? [] : [[`uid-${name}`, cameAt] as const])));
}

export function memoryReadings(availableMiB: number | undefined, capacityMiB: number, at: number): NodeReadings {
  const memory =
    availableMiB === undefined
      ? undefined
      : { at, availableBytes: availableMiB * MIB, workingSetBytes: (capacityMiB - availableMiB) * MIB };
  return {
    memory,
    allocatableMemory: undefined,
    nodeFilesystem: undefined,
    imageFilesystem: undefined,
    containerFilesystem: undefined,
    processes: undefined,
  };
}

export interface Scene {
  readonly now: number;
  /** The kubelet's figure; reclaimable memory is unknown unless `reclaimableMiB` is set. */
  readonly availableMiB?: number | undefined;
  readonly reclaimableMiB?: number;
  readonly capacityMiB?: number;
  readonly pods?: readonly NodePod[];
  readonly snapshot?: Partial<NodeSnapshot>;
}

/** A snapshot of a node of 1000 MiB whose namespaces are all open. */
export function snapshot(scene: Scene): NodeSnapshot {
  const pods = scene.pods ?? [];
  const domainPods = pods.map(nodePod);
  const measured = pods.filter(({ usageMiB, cpuNanoCores }) => usageMiB !== undefined || cpuNanoCores !== undefined);
  return {
    now: scene.now,
    readings: memoryReadings(scene.availableMiB, scene.capacityMiB ?? 1000, scene.now),
    reclaimable: memoryReadings(scene.reclaimableMiB, scene.capacityMiB ?? 1000, scene.now),
    stalls: [],
    cpu: undefined,
    reclaim: NO_RECLAIM_RATES,
    oomKills: undefined,
    podPressures: NO_POD_PRESSURES,
    usage: new Map(measured.map((pod) => [pod.uid ?? `uid-${pod.name}`, usageOf(pod)])),
    pods: indexPods(
      domainPods.map((pod) => ({ ...rankingFacts(pod), isOfGang: isOfGang(pod) })),
      undefined,
      arrivalsOf(pods),
    ),
    namespaces: new Map(domainPods.map(({ namespace }) => [namespace, 'open'])),
    avoided: new Set(),
    doubts: new Map(),
    doubtfulPods: new Map(),
    isKubeletSilent: false,
    isKubeletReady: false,
    hasMemoryPressure: false,
    closedGates: [],
    ...scene.snapshot,
  };
}

/** Enforces a hard threshold of 100Mi and a soft one of 200Mi after 30 s, unless changed. */
export function policy(changes: Partial<AgentPolicy> = {}): AgentPolicy {
  const parsed = parseThresholds({
    evictionHard: { 'memory.available': '100Mi' },
    evictionSoft: { 'memory.available': '200Mi' },
    evictionSoftGracePeriod: { 'memory.available': '30s' },
  });
  if (!parsed.ok) throw new Error(parsed.mistakes.join('; '));
  return { ...DEFAULT_POLICY, mode: 'Enforce', thresholds: parsed.thresholds, ...changes };
}

export function because(code: string): Because {
  return { code, text: code, facts: {} };
}
