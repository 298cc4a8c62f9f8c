import type { ReplicaSet, RunningPod } from '#sandbox/controllers/wire-workloads.ts';
import type { Write } from '#sandbox/controllers/write.ts';

/** When the plans are made. */
export const NOW = Date.UTC(2026, 0, 1);
export const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [] } };
/** Wants two pods. */
export const replicaSet: ReplicaSet = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'web-1', namespace: 'team-a', uid: 'rs', generation: 1 },
  spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template },
};

interface PodWishes {
  readonly owner?: string;
  readonly phase?: string;
  readonly isReady?: boolean;
  readonly deleted?: boolean;
  readonly node?: string;
  readonly createdAt?: string;
}

const ORDINARY: Required<PodWishes> = {
  owner: 'rs',
  phase: 'Running',
  isReady: true,
  deleted: false,
  node: 'sandbox',
  createdAt: '2026-01-01T00:00:00Z',
};

/** A running, ready pod of `replicaSet`, unless wished otherwise; its UID is its name. */
export function pod(name: string, wishes: PodWishes = {}): RunningPod {
  const { owner, phase, isReady, deleted, node, createdAt } = { ...ORDINARY, ...wishes };
  return {
    metadata: {
      name,
      namespace: 'team-a',
      uid: name,
      labels: { app: 'web' },
      creationTimestamp: createdAt,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: owner, controller: true }],
      ...(deleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: node === '' ? {} : { nodeName: node },
    status: { phase, conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  };
}

/** A write in a few words. */
export function inShort(write: Write): string {
  switch (write.kind) {
    case 'create':
      return `create ${write.resource.kind} of ${write.owner.name}`;
    case 'delete':
      return `delete ${write.object.metadata.name ?? ''}`;
    case 'patch':
      return `patch ${write.object.metadata.name ?? ''}${write.subresource === undefined ? '' : ` ${write.subresource}`}`;
  }
}

/** The status that is written, empty if none is. */
export function statusIn(writes: readonly Write[]): Readonly<Record<string, unknown>> {
  const found = writes.find((write) => write.kind === 'patch' && write.subresource === 'status');
  return found?.kind === 'patch' ? (found.patch as { status: Record<string, unknown> }).status : {};
}
