import { decodeDisruptionLimit } from '#shared/api/disruption-limit.ts';
import { decodeDisruptionPolicy } from '#shared/api/disruption-policy.ts';
import { coveringRules, type LimitsOfNamespace, rulesOf } from '#shared/domain/disruption/disruption-limit.ts';
import type { CoveringRule } from '#shared/domain/disruption/limit-rule.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { spentBudget } from '#shared/domain/eviction/protection.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { type CollectionAddress, listObjects } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import { decodeBudget } from '#shared/kube/decode/decode-objects.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { readNamespacePods } from '#shared/kube/list/read-some.ts';
import { DISRUPTION_LIMITS, DISRUPTION_POLICIES, PDBS, resourceLabel } from '#shared/kube/resource.ts';
import { NOT_ABORTED } from '#shared/runtime/clock.ts';
import { type NamespaceLimits, MAX_LIMITS } from '#webhook/cluster-state/limit-caches.ts';
import { ERRORS } from '#webhook/messages.ts';

/** A new limit may take effect a moment later; the account itself is always read from storage. */
const AT_HAND = { limit: MAX_LIMITS, resourceVersion: '0' } as const;

/** The limits on evictions in a namespace, and its budgets, as stored. */
export interface StoredLimits extends LimitsOfNamespace {
  readonly stored: readonly DisruptionBudget[];
}

/** The limits that are already known for a namespace, and need not be read. */
export interface KnownParts {
  readonly limits: NamespaceLimits | undefined;
  readonly budgets: Promise<readonly DisruptionBudget[]> | undefined;
}

/**
 * Reads the limits on evictions in a namespace, and its budgets. Rejects if an object cannot be read that could be a
 * limit.
 */
export async function readLimits(
  client: KubeClient,
  namespace: string,
  timeoutMs: number,
  known: KnownParts,
): Promise<StoredLimits> {
  const [limits, stored] = await Promise.all([
    known.limits ?? readAtHand(client, namespace, timeoutMs),
    known.budgets ?? readBudgets(client, namespace, timeoutMs),
  ]);
  return { ...limits, stored, budgets: stored.map(({ selector }) => prepareSelector(selector)) };
}

async function readAtHand(client: KubeClient, namespace: string, timeoutMs: number): Promise<NamespaceLimits> {
  const [limits, policies] = await Promise.all([
    listAll(client, { resource: DISRUPTION_LIMITS, namespace }, decodeDisruptionLimit, timeoutMs),
    listAll(client, { resource: DISRUPTION_POLICIES }, decodeDisruptionPolicy, timeoutMs),
  ]);
  return { limits, policy: policies[0] };
}

/** A kind that is not defined has no objects. */
async function listAll<T>(
  client: KubeClient,
  address: CollectionAddress,
  decode: (raw: unknown) => Decoded<T>,
  timeoutMs: number,
): Promise<readonly T[]> {
  const what = resourceLabel(address.resource);
  const listed = await listObjects(client, address, { ...AT_HAND, timeoutMs });
  if (listed.kind === 'notFound') return [];
  const { continueToken, items } = expectOk(listed, `list ${what}`);
  if (continueToken !== undefined || items.length > MAX_LIMITS)
    throw new Error(ERRORS.list(what, `more than ${MAX_LIMITS}`));
  return items.map((raw) => {
    const decoded = decode(raw);
    if (decoded.ok) return decoded.value;
    throw new Error(ERRORS.readFields(`${what} "${raw.metadata.name}"`, decoded.field, decoded.message));
  });
}

/** Budgets belong to tenants: a budget that cannot be decoded is left to the API server, which enforces it anyway. */
export async function readBudgets(
  client: KubeClient,
  namespace: string,
  timeoutMs: number,
): Promise<readonly DisruptionBudget[]> {
  const listed = await listObjects(client, { resource: PDBS, namespace }, { ...AT_HAND, timeoutMs });
  if (listed.kind !== 'ok' || listed.object.continueToken !== undefined) return [];
  const decoded = listed.object.items.map(decodeBudget);
  return decoded.every((each) => each.ok) ? decoded.map(({ value }) => value) : [];
}

/** The budget for which the API server would refuse an eviction of the pod, with its name. */
export function refusingBudget(pod: Pod, { stored }: Pick<StoredLimits, 'stored'>): DisruptionBudget | undefined {
  return spentBudget(pod, stored);
}

/** The rules that cover each pod, with the pods that they cover; the pods are read only if a rule counts them. */
export async function readCoverage(
  client: KubeClient,
  pods: readonly Pod[],
  limits: LimitsOfNamespace,
  timeoutMs: number,
): Promise<ReadonlyMap<Pod, readonly CoveringRule[]>> {
  const counts = pods.some((pod) => rulesOf(pod, limits).some(countsPods));
  const [first] = pods;
  const all =
    counts && first !== undefined
      ? await readNamespacePods(client, first.namespace, { timeoutMs, signal: NOT_ABORTED })
      : [];
  return new Map(pods.map((pod) => [pod, coveringRules(pod, all, limits)]));
}

function countsPods({ limits, minAvailable }: ReturnType<typeof rulesOf>[number]): boolean {
  return minAvailable !== undefined || limits.some(({ max }) => max.isPercent);
}
