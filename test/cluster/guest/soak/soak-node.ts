import type { ChildProcess } from 'node:child_process';
import { type AgentProcess, groupPod, startAgent } from '#test/agent/agent-process.ts';
import type { AgentApi } from '#test/agent/agent-api.ts';
import type { StoredObject } from '#test/fakes/stored-objects.ts';
import { createPodGroups, type PodGroups } from '#test/agent/pod-groups.ts';
import { endWithChildren, startInGroup } from '#test/cluster/guest/memory/group-process.ts';
import { leaveData, makeMemoryVolume, type Made } from '#test/cluster/guest/memory/memory-uses.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

/** What a pod of the node is to the agent; amounts in MiB. */
interface PodKind {
  readonly namespace?: string;
  readonly priority: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly requestMiB: number;
  /** What it uses all the time. */
  readonly usesMiB: number;
}

/** Lower priority than all others and above their requests: they would go first if nothing protected them. */
const PROTECTED: readonly PodKind[] = [
  { namespace: 'kube-system', priority: -100, requestMiB: 16, usesMiB: 40 },
  { priority: 2_000_000_000, requestMiB: 16, usesMiB: 40 },
  { priority: -100, annotations: { 'plimsoll.dev/evict': 'never' }, requestMiB: 16, usesMiB: 40 },
];
/** Above its request and of higher priority; within its request and of the same. */
const BYSTANDERS: readonly PodKind[] = [
  { priority: 1000, requestMiB: 16, usesMiB: 40 },
  { priority: 0, requestMiB: 64, usesMiB: 40 },
  { priority: 0, requestMiB: 64, usesMiB: 8 },
];
const CULPRIT: PodKind = { priority: 0, requestMiB: 16, usesMiB: 0 };
const PODS = '/api/v1/pods';
const STARTED_MS = 1000;

/** The pods of a node, in real groups, and the agent as it is shipped, in `Enforce`. */
export interface SoakNode {
  /** Of pods whose wish, priority or namespace protects them. */
  readonly protectedPods: readonly string[];
  readonly bystanders: readonly string[];
  /** Of pods that use nothing until something is started in them. */
  readonly culprits: readonly string[];
  readonly api: AgentApi;
  readonly start: (pod: string, command: readonly string[]) => ChildProcess;
  /** What the kubelet removes with a pod, in addition to its processes. */
  readonly removeWith: (pod: string, remove: () => void) => void;
  /** A pod is deleted and takes its time to end. */
  readonly deleteSlowly: (pod: string, graceSeconds: number) => void;
  /** The pods whose eviction was accepted, with the time of `performance.now()`. */
  readonly evicted: readonly { readonly pod: string; readonly atMs: number }[];
  /** Ends what was started in pods, all of it. */
  readonly calm: () => void;
  /** Ends everything; resolves with what the agent printed. */
  readonly close: () => Promise<string>;
}

export interface SoakOptions {
  readonly culprits: number;
  readonly policy?: object;
  /** As the agent is shipped: unless something is given. */
  readonly warmUpMs?: number;
  /** Between an eviction and the end of the pod's processes. */
  readonly endsAfterMs: () => number;
}

/** Resolves when the agent has warmed up. */
export async function startSoakNode({ culprits, policy, warmUpMs, endsAfterMs }: SoakOptions): Promise<SoakNode> {
  const kinds = [...PROTECTED, ...BYSTANDERS, ...Array<PodKind>(culprits).fill(CULPRIT)];
  const groups = createPodGroups(kinds.length);
  const uses = await Promise.all(kinds.map(({ usesMiB }, index) => use(groups, groups.uids[index] ?? '', usesMiB)));
  const pods = kinds.map((kind, index) => podOf(groups.uids[index] ?? '', kind));
  const warmUp = warmUpMs === undefined ? [] : [`--warm-up-ms=${warmUpMs}`];
  const agent = await startAgent(pods, [`--path-kubepods=${groups.kubepods}`, '--mode=Enforce', ...warmUp], policy);
  agent.api.put('/api/v1/namespaces', { metadata: { name: 'kube-system' } });
  await letTimePass((warmUpMs ?? SHIPPED_WARM_UP_MS) + STARTED_MS, 'unseen');
  return nodeOf({ agent, groups, uses, endsAfterMs });
}

/** `warmUpMs` in `agent/configuration.ts`. */
const SHIPPED_WARM_UP_MS = 30_000;

/** A pod with an owner of its own. */
function podOf(uid: string, { namespace = 'default', priority, annotations, requestMiB }: PodKind): StoredObject {
  const pod = groupPod(uid, priority);
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `owner-of-${uid}`, uid: `owner-${uid}` };
  const containers = [{ name: 'main', resources: { requests: { memory: `${requestMiB}Mi` } } }];
  return {
    ...pod,
    metadata: { ...pod.metadata, namespace, annotations, ownerReferences: [{ ...owner, controller: true }] },
    spec: { ...(pod['spec'] as object), containers },
  };
}

/** Data in memory, so that it costs no process. */
async function use(groups: PodGroups, uid: string, mebibytes: number): Promise<Made> {
  const volume = makeMemoryVolume();
  const writer = startInGroup(groups, uid, leaveData(`${volume.path}/data`, mebibytes));
  await new Promise((resolve) => writer.on('close', resolve));
  return volume;
}

interface Parts {
  readonly agent: AgentProcess;
  readonly groups: PodGroups;
  readonly uses: readonly Made[];
  readonly endsAfterMs: () => number;
}

function nodeOf({ agent, groups, uses, endsAfterMs }: Parts): SoakNode {
  const { api } = agent;
  const running: { readonly pod: string; readonly child: ChildProcess }[] = [];
  const removals: { readonly pod: string; readonly remove: () => void }[] = [];
  const evicted: { pod: string; atMs: number }[] = [];
  const end = (pod: string): void => {
    for (const each of running) if (each.pod === pod) endWithChildren(each.child);
    for (const each of removals) if (each.pod === pod) each.remove();
    const stored = api.all(PODS).find(({ metadata }) => metadata['name'] === pod);
    if (stored !== undefined) api.remove(PODS, `${String(stored.metadata['namespace'])}/${pod}`);
  };
  api.onEvicted = (_namespace, pod) => {
    evicted.push({ pod, atMs: performance.now() });
    void letTimePass(endsAfterMs(), 'double').then(() => end(pod));
  };
  const calm = (): void => {
    for (const { child } of running) endWithChildren(child);
  };
  return {
    ...rolesOf(groups.uids),
    api,
    start: (pod, command) => {
      const child = startInGroup(groups, pod, command);
      running.push({ pod, child });
      return child;
    },
    removeWith: (pod, remove) => void removals.push({ pod, remove }),
    deleteSlowly: (pod, graceSeconds) => deleteSlowly(api, pod, graceSeconds),
    evicted,
    calm,
    close: async () => {
      const output = await agent.stop();
      calm();
      for (const volume of uses) volume.remove();
      // A group can be removed once the last of its processes is gone.
      await eventually(() => groups.remove());
      return output;
    },
  };
}

function rolesOf(uids: readonly string[]): Pick<SoakNode, 'protectedPods' | 'bystanders' | 'culprits'> {
  const first = PROTECTED.length;
  const last = first + BYSTANDERS.length;
  return { protectedPods: uids.slice(0, first), bystanders: uids.slice(first, last), culprits: uids.slice(last) };
}

function deleteSlowly(api: AgentApi, uid: string, graceSeconds: number): void {
  const pod = podOf(uid, BYSTANDERS[1] ?? CULPRIT);
  const deletion = { deletionTimestamp: new Date().toISOString(), deletionGracePeriodSeconds: graceSeconds };
  api.put(PODS, { ...pod, metadata: { ...pod.metadata, ...deletion } });
}
