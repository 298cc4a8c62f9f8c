import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { durationSeconds, parseDuration } from '#shared/domain/pressure/parse-duration.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { isExtendedResource } from '#shared/domain/quantity/resource-columns.ts';
import { addTo, amountAt, type Whole } from '#shared/domain/quantity/whole.ts';
import { DEFAULT_DELAY_MS, type QueueAmounts, queueQuantity, ROOT_QUEUE } from '#shared/domain/queue/queue.ts';
import { childrenAt, parentAt, queueAt, type QueueTree } from '#shared/domain/queue/queue-tree.ts';
import { reclaimFaults, type WrittenReclaim } from '#shared/domain/queue/reclaim-settings.ts';

/** The delay in milliseconds; `undefined` if the text is not a positive duration (S2-33). */
export function delayOf(text: string | undefined): number | undefined {
  if (text === undefined) return DEFAULT_DELAY_MS;
  const parsed = parseDuration(text);
  if (!parsed.ok || parsed.nanoseconds <= 0n) return undefined;
  return durationSeconds(parsed.nanoseconds) * 1_000;
}

export const DEFAULT_GANG_TIMEOUT_MS = 60_000;
/** kube-scheduler needs some seconds to place what it has nodes for. */
const MIN_GANG_TIMEOUT_MS = 10_000;

/** How long a gang may hold room with too few pods on nodes; `undefined` for a text that says no such time. */
export function gangTimeoutOf(text: string | undefined): number | undefined {
  const timeoutMs = text === undefined ? DEFAULT_GANG_TIMEOUT_MS : delayOf(text);
  return timeoutMs !== undefined && timeoutMs >= MIN_GANG_TIMEOUT_MS ? timeoutMs : undefined;
}

function timeoutMistakes(queue: string, text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  if (queue !== ROOT_QUEUE) return ['gangTimeout has an effect only on the queue root'];
  if (gangTimeoutOf(text) !== undefined) return [];
  return [`gangTimeout must be a duration of at least 10s, such as 60s; got "${text}", using 60s`];
}

/** The settings of a queue that may have no effect. */
export interface WrittenSettings {
  readonly name: string;
  readonly policy: string | undefined;
  readonly delay: string | undefined;
  readonly gangTimeout?: string | undefined;
  readonly isSelecting: boolean;
  /** The resource names, by the field in which they stand. */
  readonly types?: readonly (readonly [field: string, type: string])[];
  readonly reclaim?: WrittenReclaim | undefined;
}

/** Settings of a queue that can never take effect, as sentences; empty if all do (D-13). */
export function ineffectiveSettings(written: WrittenSettings, { tree, index }: QueuePlace): readonly string[] {
  const isTemplate = tree.queues[index]?.childTemplate !== undefined;
  const hasChildren = isTemplate || childrenAt(tree, index).length > 0;
  const { delay, policy, isSelecting, name, reclaim, gangTimeout } = written;
  const faults = [
    [
      delay !== undefined && delayOf(delay) === undefined,
      `preemption.delay must be a positive duration such as 30s; got "${delay}", using 30s`,
    ],
    [delay !== undefined && hasChildren, 'preemption.delay has no effect on a queue with children'],
    [policy !== undefined && name === ROOT_QUEUE, 'preemption.policy has no effect on the queue root'],
    [isSelecting && hasChildren && !isTemplate, 'namespaceSelector has no effect on a queue with children'],
  ] as const;
  const unrequested = (written.types ?? []).filter(([, type]) => !isRequestable(type));
  return [
    ...faults.filter(([applies]) => applies).map(([, sentence]) => sentence),
    ...timeoutMistakes(name, gangTimeout),
    ...(reclaim === undefined ? [] : reclaimMistakes(name, reclaim)),
    ...unrequested.map(([field, type]) => noEffectOf(field, type)),
  ];
}

function reclaimMistakes(name: string, reclaim: WrittenReclaim): readonly string[] {
  return name === ROOT_QUEUE ? reclaimFaults(reclaim) : ['reclaim has no effect on a queue other than root'];
}

const COUNTED: readonly string[] = ['cpu', 'memory', 'ephemeral-storage', 'pods'];

/** Read as an extended resource, though only a ResourceQuota knows them. */
const OF_QUOTAS = /^(?:count\/|limits\.)|\.(?:storageclass\.storage|deviceclass\.resource)\.k8s\.io\//;

/** Whether a pod can request the resource, or is one of it. */
function isRequestable(type: string): boolean {
  return COUNTED.includes(type) || /^hugepages-./.test(type) || (isExtendedResource(type) && !OF_QUOTAS.test(type));
}

/** ResourceQuotas know more names, which say what of a pod they mean. */
function noEffectOf(field: string, type: string): string {
  const plain = type.replace(/^requests\./, '');
  const hint = plain !== type && isRequestable(plain) ? `; use ${plain}` : '';
  return `${field}.${type} has no effect: no pod can request ${type}${hint}`;
}

/** A queue in its tree, by number. */
export interface QueuePlace {
  readonly tree: QueueTree;
  readonly index: number;
}

/** The guarantees that exceed what is available, as sentences (S2-19); also those of a type that no node has. */
export function uncoveredGuarantees(tree: QueueTree, available: QueueAmounts): readonly string[] {
  return [...guaranteedTypes(tree)].sort().flatMap((type) => {
    const sum = guaranteedInAll(tree, type);
    const amount = available.get(type);
    if (sum <= (amount ?? 0)) return [];
    const text = (value: Whole): string => formatQuantity(queueQuantity(type, value));
    return [
      `${type}: guaranteed ${text(sum)}, available ${amount === undefined ? '0: no node reports it' : text(amount)}`,
    ];
  });
}

/**
 * The total with the guaranteed types that no node reports, as if there were exactly what is guaranteed of them: a pool
 * that is scaled to zero grows only for pods without a gate, and a type of DRA is reported by no node.
 */
export function withUnreported(tree: QueueTree, total: QueueAmounts, reported: ReadonlySet<string>): QueueAmounts {
  const missing = Array.from(guaranteedTypes(tree)).filter((type) => !reported.has(type));
  if (missing.length === 0) return total;
  return new Map([...total, ...missing.map((type) => [type, guaranteedInAll(tree, type)] as const)]);
}

function guaranteedTypes({ queues }: QueueTree): ReadonlySet<string> {
  const below = queues.filter(({ name }) => name !== ROOT_QUEUE);
  return new Set(below.flatMap(({ guaranteed }) => [...guaranteed.keys()]));
}

/** The guarantees of the queues below the root; a queue without its own has those of its children. */
function guaranteedInAll(tree: QueueTree, type: string): Whole {
  const ofChildren: Whole[] = tree.queues.map(() => 0);
  for (let index = ofChildren.length - 1; index > 0; index -= 1) {
    const own = queueAt(tree, index).guaranteed.get(type) ?? amountAt(ofChildren, index);
    addTo(ofChildren, parentAt(tree, index), own);
  }
  return amountAt(ofChildren, 0);
}

/** When a waiting pod is notified of the reason: at once, then after these times. */
const ANNOUNCED_AFTER_MS: readonly number[] = [0, MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS];

/** How many notifications a pod that has waited since then should have had. */
export function announcementsDue(since: Instant, now: Instant): number {
  return ANNOUNCED_AFTER_MS.filter((afterMs) => now - since >= afterMs).length;
}
