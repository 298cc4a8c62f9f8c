import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { LivePod } from './node.ts';
import type { LawPod } from './scenario.ts';

/** Wall time at the start of an episode. */
export const EPOCH_MS = Date.UTC(2026, 0, 1);

/** A pod of the episode as the API server shows it at a time. */
export function podObject(pod: LivePod, atMs: number): KubeObject {
  const { spec, uid, deletion } = pod;
  const terminating =
    deletion === undefined
      ? {}
      : {
          deletionTimestamp: timestamp(deletion.atMs + deletion.graceSeconds * 1000),
          deletionGracePeriodSeconds: deletion.graceSeconds,
        };
  return {
    metadata: {
      name: spec.name,
      namespace: spec.namespace,
      uid,
      annotations: annotationsOf(spec),
      ownerReferences: ownersOf(spec),
      ...terminating,
    },
    spec: {
      nodeName: 'node-a',
      priority: spec.priority,
      terminationGracePeriodSeconds: spec.graceSeconds,
      containers: [{ name: 'main', resources: resourcesOf(spec) }],
    },
    status: statusOf(pod, atMs),
  };
}

function timestamp(ms: number): string {
  return new Date(EPOCH_MS + ms).toISOString();
}

function annotationsOf({ wish, kind }: LawPod): Readonly<Record<string, string>> {
  return {
    ...(wish === undefined ? {} : { 'plimsoll.dev/evict': wish }),
    ...(kind === 'Static' ? { 'kubernetes.io/config.mirror': 'hash', 'kubernetes.io/config.source': 'file' } : {}),
  };
}

function ownersOf({ kind, name }: LawPod): readonly object[] {
  if (kind === 'Bare') return [];
  if (kind === 'Static') return [{ apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: 'node', controller: true }];
  return [{ apiVersion: 'apps/v1', kind, name: `owner-of-${name}`, uid: `uid-${name}`, controller: true }];
}

function resourcesOf({ fault, resize, requestMiB, isGuaranteed, isInSpareRoom, startMiB }: LawPod): object {
  if (fault === 'unreadable') return { requests: { memory: 'many' } };
  if (isInSpareRoom === true) {
    const spare = { 'plimsoll.dev/spare-memory': String(startMiB * 1024 * 1024) };
    return { requests: { memory: '0', cpu: '0', ...spare }, limits: spare };
  }
  const memory = `${resize?.requestMiB ?? requestMiB}Mi`;
  if (memory === '0Mi') return {};
  return { requests: { memory, cpu: '100m' }, limits: isGuaranteed ? { memory, cpu: '100m' } : {} };
}

function statusOf({ spec, requestMiB, isEvictedByKubelet, deletion, endsAtMs }: LivePod, atMs: number): object {
  const disrupted = isEvictedByKubelet ? 'TerminationByKubelet' : deletion && 'EvictionByEvictionAPI';
  const { resize } = spec;
  const isPending = resize !== undefined && resize.state !== 'Done';
  const resources = requestMiB === 0 ? {} : { memory: `${requestMiB}Mi`, cpu: '100m' };
  return {
    phase: isEvictedByKubelet ? 'Failed' : 'Running',
    ...(isEvictedByKubelet ? { reason: 'Evicted', message: 'The node was low on resource: memory. ' } : {}),
    conditions: [
      ...(disrupted === undefined ? [] : [{ type: 'DisruptionTarget', status: 'True', reason: disrupted }]),
      ...(isPending ? [{ type: 'PodResizePending', status: 'True', reason: resize.state }] : []),
    ],
    ...endedAt(endsAtMs, atMs),
    ...(resize === undefined
      ? {}
      : { containerStatuses: [{ name: 'main', allocatedResources: resources, resources: { requests: resources } }] }),
  };
}

function endedAt(endsAtMs: number, atMs: number): object {
  if (endsAtMs > atMs) return {};
  return { containerStatuses: [{ name: 'main', state: { terminated: { finishedAt: timestamp(endsAtMs) } } }] };
}
