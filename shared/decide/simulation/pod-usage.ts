import { isFresh, type NextEntry, type NodePressureStatus } from '#shared/api/node-pressure.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { isSignal, resourceOf, type StarvedResource } from '#shared/domain/pressure/signal.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { type PodUsage, RESOURCES, type UsageByUid } from '#shared/domain/ranking/pod-usage.ts';

/** Usage by `namespace/name` of the pod: bytes of memory, or processes. */
export type NamedUsage = ReadonlyMap<string, number>;

/** Where figures come from: the report of the node's agent, and a file, which takes precedence. */
interface UsageSources {
  readonly status: NodePressureStatus | undefined;
  readonly named: NamedUsage;
  readonly now: Instant;
}

/** What each pod uses of a resource, if a source has it; a report that is too old to describe the node is ignored. */
export function usageOnNode(pods: readonly Pod[], resource: StarvedResource, sources: UsageSources): UsageByUid {
  const { status, named, now } = sources;
  const reported = isFresh(status, now) ? reportedUsage(status.next, resource) : new Map<string, number>();
  const figures = pods.map(({ namespace, name, uid }) => {
    return { uid, amount: named.get(`${namespace}/${name}`) ?? reported.get(uid) };
  });
  return new Map(
    figures.flatMap(({ uid, amount }) => (amount === undefined ? [] : [[uid, podUsage(uid, resource, amount)]])),
  );
}

/** By UID; entries for another resource, such as CPU, are skipped. */
function reportedUsage(next: readonly NextEntry[], resource: StarvedResource): ReadonlyMap<string, number> {
  return new Map(
    next.flatMap(({ uid, usage, because: { facts } }) => {
      const parsed = parseQuantity(usage ?? '');
      return parsed.ok && isOf(resource, facts['signal']) ? [[uid, quantityNumber(parsed.quantity)]] : [];
    }),
  );
}

function isOf(resource: StarvedResource, signal: unknown): boolean {
  return typeof signal === 'string' && isSignal(signal) && resourceOf(signal) === resource;
}

function podUsage(uid: string, resource: StarvedResource, amount: number): PodUsage {
  return { uid, ...RESOURCES[resource].usageOf(amount), containers: [], volumes: [] };
}
