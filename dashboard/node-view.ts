import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityMilliNumber } from '#shared/domain/quantity/quantity.ts';
import { readableAmount } from '#shared/domain/quantity/readable-amount.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { WireObject } from '#shared/kube/decode/wire-object.ts';
import {
  decodeObject,
  readInstant,
  readInteger,
  readList,
  readObject,
  readText,
} from '#shared/kube/decode/wire-object.ts';
import type { ConditionView, EvictionView, NextView, NodeView, SignalView } from './view.ts';

/** A NodePressure older than this counts as unknown: a quiet agent writes every two minutes (docs/decisions/0016-status-writes.md). */
const STALE_AFTER_MS = 180_000;

/** One NodePressure as the page shows it; `undefined` for one that no agent has written yet or that cannot be read. */
export function nodeView(object: KubeObject, now: number): NodeView | undefined {
  const decoded = decodeObject(object, (root) =>
    readObject(root, 'status', (status) => readStatus(object.metadata.name ?? '', status, now)),
  );
  return decoded.ok ? decoded.value : undefined;
}

function readStatus(name: string, status: WireObject, now: number): NodeView {
  const observedAt = readInstant(status, 'observedAt') ?? 0;
  return {
    name,
    mode: readText(status, 'mode') ?? 'DryRun',
    policy: readText(status, 'policy') ?? '',
    observedAt: new Date(observedAt).toISOString(),
    isStale: now - observedAt > STALE_AFTER_MS,
    conditions: readList(status, 'conditions', readCondition),
    signals: readList(status, 'signals', readSignal),
    next: readList(status, 'next', readNext).map((next, index) => ({ ...next, rank: index + 1 })),
    evictions: readList(status, 'evictions', readEviction),
  };
}

/** Types that name a shortage; every other names what should be so, such as `PoliciesRead`. */
const SHORTAGES: readonly string[] = ['Memory', 'Cpu', 'Io', 'Disk', 'Pid'];

function readCondition(condition: WireObject): ConditionView {
  const type = readText(condition, 'type') ?? '';
  const status = readText(condition, 'status') ?? 'Unknown';
  return {
    type,
    status,
    isTrouble: status === (SHORTAGES.includes(type) ? 'True' : 'False'),
    reason: readText(condition, 'reason') ?? '',
    message: readText(condition, 'message') ?? '',
  };
}

function readSignal(signal: WireObject): SignalView {
  const available = readText(signal, 'available') ?? '';
  const capacity = readText(signal, 'capacity') ?? '';
  const threshold = readText(signal, 'threshold');
  return {
    name: readText(signal, 'name') ?? '',
    state: readText(signal, 'state') ?? 'Unknown',
    available: readableAmount(available),
    capacity: readableAmount(capacity),
    reclaimable: readAmount(signal, 'reclaimable'),
    threshold: threshold && readableAmount(threshold),
    usedRatio: usedRatio(available, capacity),
    lineRatio: threshold === undefined ? undefined : usedRatio(threshold, capacity),
  };
}

/** The share of `capacity` that is gone when `available` is left. */
function usedRatio(available: string, capacity: string): number | undefined {
  const left = amountOf(available);
  const all = amountOf(capacity);
  if (left === undefined || all === undefined || all <= 0) return undefined;
  return Math.min(1, Math.max(0, 1 - left / all));
}

function amountOf(text: string): number | undefined {
  const parsed = parseQuantity(text);
  return parsed.ok ? quantityMilliNumber(parsed.quantity) : undefined;
}

function readNext(next: WireObject): Omit<NextView, 'rank'> {
  return {
    pod: readText(next, 'pod') ?? '',
    priority: readInteger(next, 'priority') ?? 0,
    usage: readAmount(next, 'usage'),
    request: readAmount(next, 'request'),
    why: readWhy(next),
  };
}

function readAmount(object: WireObject, key: string): string | undefined {
  const text = readText(object, key);
  return text && readableAmount(text);
}

function readEviction(eviction: WireObject): EvictionView {
  return {
    pod: readText(eviction, 'pod') ?? '',
    signal: readText(eviction, 'signal') ?? '',
    stage: readText(eviction, 'stage') ?? '',
    outcome: readText(eviction, 'outcome') ?? '',
    requestedAt: readText(eviction, 'requestedAt') ?? '',
    endedAt: readText(eviction, 'endedAt'),
    why: readWhy(eviction),
  };
}

function readWhy(decided: WireObject): string {
  return readObject(decided, 'because', (because) => readText(because, 'text')) ?? '';
}
