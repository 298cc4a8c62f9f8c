import { createHash } from 'node:crypto';
import { timeText } from '#sandbox/api-server/wire/object.ts';
import { DEPLOYMENTS, REPLICA_SETS } from '#shared/kube/resource.ts';
import { type Deployment, ownedBy, type ReplicaSet } from './wire-workloads.ts';
import { referenceTo, statusPatch, type Write } from './write.ts';

const HASH_LABEL = 'pod-template-hash';
const REVISION = 'deployment.kubernetes.io/revision';
const DEFAULT_HISTORY = 10;

/** One ReplicaSet for each template, sized so that the rollout keeps its bounds (`pkg/controller/deployment`). */
export function planDeployment(
  deployment: Deployment,
  replicaSets: readonly ReplicaSet[],
  now: number,
): readonly Write[] {
  const owned = ownedBy(deployment, replicaSets).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const hash = templateHash(deployment);
  const current = owned.find(({ metadata }) => metadata.labels?.[HASH_LABEL] === hash);
  const old = owned.filter((each) => each !== current);
  const isLeaving = deployment.metadata.deletionTimestamp !== undefined;
  const writes = isLeaving ? [] : roll(deployment, { hash, current, old });
  return [...writes, ...report(deployment, { current, old, now })];
}

interface Sets {
  readonly hash: string;
  readonly current: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

function roll(deployment: Deployment, { hash, current, old }: Sets): readonly Write[] {
  const sizes = nextSizes({
    ...rolloutBounds(deployment),
    wanted: deployment.spec.replicas ?? 1,
    current: current === undefined ? { replicas: 0, available: 0 } : sizeOf(current),
    old: old.map(sizeOf),
  });
  const first =
    current === undefined
      ? [createReplicaSet(deployment, hash, sizes.current, nextRevision(old))]
      : scale(current, sizes.current);
  const others = old.flatMap((each, index) => scale(each, sizes.old[index] ?? 0));
  return [...first, ...others, ...forgetHistory(deployment, old)];
}

function sizeOf({ spec, status }: ReplicaSet): Size {
  return { replicas: spec.replicas ?? 1, available: status?.availableReplicas ?? 0 };
}

function scale(replicaSet: ReplicaSet, replicas: number): readonly Write[] {
  if (replicaSet.spec.replicas === replicas) return [];
  return [{ kind: 'patch', resource: REPLICA_SETS, object: replicaSet, patch: { spec: { replicas } } }];
}

function createReplicaSet(deployment: Deployment, hash: string, replicas: number, revision: number): Write {
  const { template, selector } = deployment.spec;
  const { name = '', namespace } = deployment.metadata;
  const owner = referenceTo(deployment, 'apps/v1', 'Deployment');
  const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash };
  const object = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels,
      annotations: { [REVISION]: String(revision) },
      ownerReferences: [owner],
    },
    spec: {
      replicas,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
  return { kind: 'create', resource: REPLICA_SETS, namespace, owner, object };
}

function revisionOf({ metadata }: ReplicaSet): number {
  return Number(metadata.annotations?.[REVISION] ?? 0);
}

function nextRevision(old: readonly ReplicaSet[]): number {
  return 1 + Math.max(0, ...old.map(revisionOf));
}

function forgetHistory(deployment: Deployment, old: readonly ReplicaSet[]): readonly Write[] {
  const empty = old.filter(({ spec, status }) => spec.replicas === 0 && (status?.replicas ?? 0) === 0);
  const oldestFirst = empty.toSorted((left, right) => revisionOf(left) - revisionOf(right));
  const excess = Math.max(0, empty.length - (deployment.spec.revisionHistoryLimit ?? DEFAULT_HISTORY));
  return oldestFirst.slice(0, excess).map((object) => ({ kind: 'delete', resource: REPLICA_SETS, object }));
}

/** A short name for a template, the same for equal ones. */
function templateHash({ spec }: Deployment): string {
  return createHash('sha256').update(JSON.stringify(spec.template)).digest('hex').slice(0, 10);
}

function report(
  deployment: Deployment,
  { current, old, now }: Omit<Sets, 'hash'> & { readonly now: number },
): readonly Write[] {
  const all = current === undefined ? old : [current, ...old];
  const replicas = total(all, 'replicas');
  const available = total(all, 'availableReplicas');
  const wanted = deployment.spec.replicas ?? 1;
  const isAvailable = available >= wanted - rolloutBounds(deployment).unavailable;
  return statusPatch(DEPLOYMENTS, deployment, {
    observedGeneration: deployment.metadata.generation,
    replicas,
    updatedReplicas: current === undefined ? 0 : total([current], 'replicas'),
    readyReplicas: total(all, 'readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, wanted - available),
    conditions: conditions(deployment, isAvailable, now),
  });
}

function conditions(deployment: Deployment, isAvailable: boolean, now: number) {
  const wanted = [
    {
      type: 'Available',
      status: isAvailable ? 'True' : 'False',
      reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    },
    { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated' },
  ];
  const present = (deployment.status?.['conditions'] ?? []) as readonly {
    readonly type: string;
    readonly status: string;
  }[];
  const time = timeText(now);
  return wanted.map((each) => {
    const same = present.find(({ type, status }) => type === each.type && status === each.status);
    return same ?? { ...each, lastUpdateTime: time, lastTransitionTime: time };
  });
}

function total(sets: readonly ReplicaSet[], field: string): number {
  return sets.reduce((sum, { status }) => sum + Number(status?.[field] ?? 0), 0);
}

/** What a rollout depends on: pods wanted, and those of the new and the old templates. */
export interface RolloutFacts {
  readonly wanted: number;
  /** How many more pods than wanted may run. */
  readonly surge: number;
  /** How many fewer available pods than wanted are allowed. */
  readonly unavailable: number;
  readonly isRecreate: boolean;
  readonly current: Size;
  readonly old: readonly Size[];
}

export interface Size {
  readonly replicas: number;
  readonly available: number;
}

/** Sizes to have now, of the new set and of the old ones in their order (`pkg/controller/deployment/rolling.go`). */
export function nextSizes(facts: RolloutFacts): { readonly current: number; readonly old: readonly number[] } {
  if (facts.isRecreate) return recreate(facts);
  const oldTotal = sum(facts.old.map(({ replicas }) => replicas));
  const room = facts.wanted + facts.surge - oldTotal;
  const current = Math.max(facts.current.replicas, Math.min(facts.wanted, room));
  const available = sum([facts.current, ...facts.old].map((each) => Math.min(each.available, each.replicas)));
  return {
    current: Math.min(current, facts.wanted),
    old: shrink(facts, available - (facts.wanted - facts.unavailable)),
  };
}

function recreate({ wanted, old }: RolloutFacts) {
  const isClear = old.every(({ replicas, available }) => replicas === 0 && available === 0);
  return { current: isClear ? wanted : 0, old: old.map(() => 0) };
}

/** Unavailable pods are removed first, because that costs nothing; then as many as are not needed. */
function shrink({ old }: RolloutFacts, spare: number): readonly number[] {
  let left = Math.max(0, spare);
  return old.map(({ replicas, available }) => {
    const useful = Math.min(replicas, available);
    const removed = Math.min(useful, left);
    left -= removed;
    return useful - removed;
  });
}

/** The bounds of a rolling update; if both are 0, one pod may be missing, or the rollout would never start. */
export function rolloutBounds(deployment: Deployment): Pick<RolloutFacts, 'surge' | 'unavailable' | 'isRecreate'> {
  const { strategy, replicas = 1 } = deployment.spec;
  const { maxSurge = '25%', maxUnavailable = '25%' } = strategy?.rollingUpdate ?? {};
  const surge = scaled(maxSurge, replicas, Math.ceil);
  const unavailable = scaled(maxUnavailable, replicas, Math.floor);
  const isStuck = surge === 0 && unavailable === 0;
  return { surge, unavailable: isStuck ? 1 : unavailable, isRecreate: strategy?.type === 'Recreate' };
}

/** A number, or a percentage of `total` rounded by `round`. */
export function scaled(value: number | string, total: number, round: (value: number) => number): number {
  if (typeof value === 'number') return value;
  return value.endsWith('%') ? round((Number(value.slice(0, -1)) * total) / 100) : Number(value);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
