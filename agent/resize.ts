import { podNamed } from '#shared/domain/base/texts.ts';
import { quantityMilliNumber } from '#shared/domain/quantity/quantity.ts';
import { hasEnded, type Pod } from '#shared/domain/pod/pod.ts';
import { isSidecar } from '#shared/domain/pod/pod-resize.ts';
import type { ThrottledEntry } from '#shared/api/node-pressure.ts';
import type { CpuOfContainer } from '#shared/decide/throttle/throttle-cpu.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { getObject, listObjects, patchObject } from '#shared/kube/client/objects.ts';
import type { Failure, Outcome } from '#shared/kube/client/outcome.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { PODS, PRIORITY_QUOTAS, RESOURCE_QUOTAS, type Resource } from '#shared/kube/resource.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';

/** A pod as it is now: the watched copy keeps no limits, which would cost every agent memory. */
export interface ResizablePod {
  readonly pod: Pod;
  /** `undefined` if its CPU limit cannot be changed without harm, or one that burns could be another container's. */
  readonly cpu: CpuOfContainer | undefined;
  /** The limits in force by container name, in millicores, as the kubelet reports them. */
  readonly applied: ReadonlyMap<string, number | undefined>;
  /** Whether a resize of it has not ended or was refused: another one would wait behind it. */
  readonly isResizing: boolean;
  /** The limits it asks for by container name, in millicores. */
  readonly limits: ReadonlyMap<string, number | undefined>;
}

const CALL = { timeoutMs: 5000 } as const;

/** Reads a pod again; `gone` if it has ended, is another one by now or cannot be decoded. */
export async function readResizable(
  client: KubeClient,
  { namespace, name, uid }: Pick<Pod, 'namespace' | 'name' | 'uid'>,
  signal: AbortSignal,
): Promise<ResizablePod | 'gone' | 'unknown'> {
  const outcome = await getObject(client, { resource: PODS, namespace, name }, { ...CALL, signal });
  if (outcome.kind === 'notFound') return 'gone';
  if (outcome.kind !== 'ok') return 'unknown';
  const decoded = decodePod(outcome.object);
  if (!decoded.ok || decoded.value.uid !== uid || hasEnded(decoded.value)) return 'gone';
  return resizable(decoded.value, outcome.object);
}

/**
 * On pods of a VerticalPodAutoscaler. It resizes them, too: it would derive a limit from the lower one, or evict a pod
 * whose request has no room below it.
 */
const OF_AUTOSCALER = 'vpaObservedContainers';

const CONDITIONS: readonly string[] = ['PodResizePending', 'PodResizeInProgress'];

function resizable(pod: Pod, raw: KubeObject): ResizablePod {
  return {
    pod,
    cpu: pod.annotations.has(OF_AUTOSCALER) ? undefined : cpuOf(pod, raw),
    limits: new Map(pod.spec.containers.map(({ name, resources }) => [name, milli(resources.limits?.get('cpu'))])),
    applied: new Map(pod.status.containers.map(({ name, resources }) => [name, milli(resources?.limits?.get('cpu'))])),
    isResizing: pod.status.conditions.some(({ type }) => CONDITIONS.includes(type)),
  };
}

/** Usage is that of the pod, so it must have one container, with a limit: one that is set can never be removed again. */
function cpuOf({ spec, deletion }: Pod, raw: KubeObject): CpuOfContainer | undefined {
  const [container, ...others] = [...spec.containers, ...spec.initContainers.filter(isSidecar)];
  if (container === undefined || others.length > 0 || deletion !== undefined || spec.resources !== undefined)
    return undefined;
  const limit = milli(container.resources.limits?.get('cpu'));
  if (limit === undefined || restartsForCpu(raw)) return undefined;
  return { container: container.name, request: milli(container.resources.requests?.get('cpu')) ?? 0, limit };
}

function restartsForCpu(raw: KubeObject): boolean {
  return itemsOf(fieldOf(raw['spec'], 'containers'))
    .flatMap((container) => itemsOf(fieldOf(container, 'resizePolicy')))
    .some((each) => fieldOf(each, 'resourceName') === 'cpu' && fieldOf(each, 'restartPolicy') !== 'NotRequired');
}

function milli(quantity: Parameters<typeof quantityMilliNumber>[0] | undefined): number | undefined {
  return quantity && quantityMilliNumber(quantity);
}

/**
 * Whether a quota counts CPU limits: what a lower one credits, another pod may take, and then the old limit is refused.
 * Quotas that cannot be read may.
 */
export async function areLimitsCounted(client: KubeClient, namespace: string, signal: AbortSignal): Promise<boolean> {
  const counts = async (resource: Resource, within: { readonly namespace?: string }): Promise<boolean> => {
    const listed = await listObjects(client, { resource, ...within }, { ...CALL, signal, resourceVersion: '0' });
    return listed.kind !== 'ok' || listed.object.items.some(({ spec }) => countsLimits(fieldOf(spec, 'hard')));
  };
  const found = await Promise.all([counts(RESOURCE_QUOTAS, { namespace }), counts(PRIORITY_QUOTAS, {})]);
  return found.includes(true);
}

function countsLimits(hard: unknown): boolean {
  return fieldOf(hard, 'limits.cpu') !== undefined;
}

/** Asks for another CPU limit of one container, and for nothing else, of the pod as it was read. */
export function resizeCpu(
  client: KubeClient,
  { namespace, name, uid, resourceVersion }: Pod,
  wanted: { readonly container: string; readonly limit: number; readonly dryRun?: boolean },
  signal: AbortSignal,
): Promise<Outcome<KubeObject>> {
  const resources = { limits: { cpu: `${wanted.limit}m` } };
  const patch = { metadata: { uid, resourceVersion }, spec: { containers: [{ name: wanted.container, resources }] } };
  return patchObject(client, { resource: PODS, namespace, name, subresource: 'resize' }, patch, {
    ...CALL,
    type: 'strategic',
    fieldManager: COMPONENT_NAMES.agent,
    dryRun: wanted.dryRun ?? false,
    signal,
  });
}

/** Failures after which a write may have taken effect. */
const UNCLEAR: readonly Failure['kind'][] = ['unreachable', 'timeout', 'serverError'];
const AGAIN: readonly Failure['kind'][] = ['conflict', 'tooManyRequests'];

export type NotChanged = 'again' | 'unanswered' | 'unsuitable' | Failure;

/** Changes a limit as its entry says, if it is what the entry says; the next read shows what an unanswered change did. */
export async function changeLimit(
  client: KubeClient,
  entry: ThrottledEntry,
  mayBeChanged: (found: ResizablePod) => boolean,
  signal: AbortSignal,
): Promise<'done' | NotChanged> {
  const { container, from, to } = entry;
  const found = await readResizable(client, podOf(entry), signal);
  if (found === 'unknown') return 'again';
  const limit = found === 'gone' ? undefined : found.limits.get(container);
  if (limit === to) return 'done';
  if (found === 'gone' || limit !== from || !mayBeChanged(found)) return 'unsuitable';
  const outcome = await resizeCpu(client, found.pod, { container, limit: to }, signal);
  if (outcome.kind === 'ok') return 'done';
  if (UNCLEAR.includes(outcome.kind)) return 'unanswered';
  return AGAIN.includes(outcome.kind) ? 'again' : outcome;
}

export function podOf({ pod, uid }: ThrottledEntry): Pick<Pod, 'namespace' | 'name' | 'uid'> {
  return { ...podNamed(pod), uid };
}

/** A kubelet that reports no limits says at least that a resize has ended. */
export function isApplied({ container, to }: ThrottledEntry, { isResizing, applied }: ResizablePod): boolean {
  return !isResizing && (applied.get(container) ?? to) === to;
}
