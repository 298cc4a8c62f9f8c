import { decodeEvictedPods } from '#shared/api/evicted-pods.ts';
import { type Fields, fieldsOf, instantOf, integerOf, listOf, textOf } from '#shared/api/fields.ts';
import { byName } from '#shared/domain/base/texts.ts';
import { ROOT_QUEUE } from '#shared/domain/queue/queue.ts';
import { reclaimInForce } from '#shared/domain/queue/reclaim-settings.ts';
import { readableAmount } from '#shared/domain/quantity/format-quantity.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { conditionOf } from './condition.ts';
import { amountOf } from './node-view.ts';
import type { QueueAmountView, QueueEvictionView, QueueResourceView, QueueView } from './view.ts';

const MAX_NAME_LENGTH = 253;
const MAX_TYPES = 16;
const MAX_CONDITIONS = 16;
type AmountName = 'guaranteed' | 'deserved' | 'used' | 'pending' | 'max';

/** One Queue before it is placed in the tree. */
export interface QueueEntry extends Omit<QueueView, 'depth' | 'resources'> {
  /** By resource type: amounts as text. */
  readonly amounts: ReadonlyMap<string, Readonly<Record<AmountName, string | undefined>>>;
}

/** Decodes one Queue; never throws. */
export function queueEntry(object: KubeObject): QueueEntry {
  const [spec, status] = [fieldsOf(object['spec']), fieldsOf(object['status'])];
  return {
    name: object.metadata.name ?? '',
    parent: textOf(spec['parent'], MAX_NAME_LENGTH) ?? '',
    weight: integerOf(spec['weight']) ?? 1,
    policy: textOf(fieldsOf(spec['preemption'])['policy'], MAX_NAME_LENGTH) ?? 'Default',
    reclaim: object.metadata.name === ROOT_QUEUE ? reclaimInForce(spec['reclaim']).mode : '',
    amounts: amountsOf(spec, status),
    waitingPods: integerOf(status['waitingPods']) ?? 0,
    oldestWaiting: instantOf(status['oldestWaiting']),
    conditions: listOf(status['conditions'], MAX_CONDITIONS, (each) => conditionOf(each, TROUBLES)),
    evicted: evictionsOf(object),
  };
}

function amountsOf(spec: Fields, status: Fields): QueueEntry['amounts'] {
  const written = { guaranteed: spec['guaranteed'], max: spec['max'] };
  const counted = { deserved: status['deserved'], used: status['used'], pending: status['pending'] };
  const lists = Object.entries({ ...written, ...counted }).map(([name, list]) => [name, fieldsOf(list)] as const);
  const types = [...new Set(lists.flatMap(([, list]) => Object.keys(list)))].sort().slice(0, MAX_TYPES);
  const ofType = (type: string) => Object.fromEntries(lists.map(([name, list]) => [name, amountText(list[type])]));
  return new Map(types.map((type) => [type, ofType(type) as Record<AmountName, string | undefined>]));
}

function amountText(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : textOf(value, MAX_NAME_LENGTH);
}

/** These report a problem while they are True; every other type reports a desired state. */
const TROUBLES = ['ReclaimBlocked', 'AboveMaximum', 'SharesReturned', 'NodesDoubted', 'GangsWait'];

function evictionsOf(object: KubeObject): readonly QueueEvictionView[] {
  const newestFirst = [...decodeEvictedPods(object)].sort((a, b) => b.at - a.at);
  return newestFirst.map(({ pod, node, at, because }) => ({ pod, node, at, why: because.text }));
}

/**
 * All queues from the root, each before its children. Queues in a cycle or below an unknown queue come last, at the
 * root.
 */
export function queueTree(entries: Iterable<QueueEntry>): readonly QueueView[] {
  const queues = [...entries].sort(byName);
  const known = new Set(queues.map(({ name }) => name));
  const children = Map.groupBy(queues, ({ name, parent }) => parentIn(known, name, parent));
  const placed = new Map<string, QueueView>();
  const place = (siblings: readonly QueueEntry[], depth: number): void => {
    const longest = longestBars(siblings);
    for (const entry of siblings) {
      if (placed.has(entry.name)) continue;
      placed.set(entry.name, viewOf(entry, depth, longest));
      place(children.get(entry.name) ?? [], depth + 1);
    }
  };
  place(children.get('') ?? [], 0);
  place(
    queues.filter(({ name }) => !placed.has(name)),
    0,
  );
  return [...placed.values()];
}

/** A queue without a parent is below the root, if an object describes the root. */
function parentIn(known: ReadonlySet<string>, name: string, parent: string): string {
  if (name === ROOT_QUEUE) return '';
  if (parent === '') return known.has(ROOT_QUEUE) ? ROOT_QUEUE : '';
  return known.has(parent) ? parent : '';
}

/** By resource type, the end of the longest bar or mark among these queues. */
function longestBars(siblings: readonly QueueEntry[]): ReadonlyMap<string, number> {
  const longest = new Map<string, number>();
  for (const { amounts } of siblings) {
    for (const [type, each] of amounts) {
      const marks = [each.guaranteed, each.deserved, each.max].map((text) => amountOf(text) ?? 0);
      const bar = (amountOf(each.used) ?? 0) + (amountOf(each.pending) ?? 0);
      longest.set(type, Math.max(longest.get(type) ?? 0, bar, ...marks));
    }
  }
  return longest;
}

function viewOf({ amounts, ...entry }: QueueEntry, depth: number, longest: ReadonlyMap<string, number>): QueueView {
  const resources = Array.from(amounts, ([name, each]): QueueResourceView => {
    const view = (text: string | undefined) => amountView(text, longest.get(name) ?? 0);
    const [guaranteed, deserved, used] = [view(each.guaranteed), view(each.deserved), view(each.used)];
    return { name, guaranteed, deserved, used, pending: view(each.pending), max: view(each.max) };
  });
  return { ...entry, depth, resources };
}

function amountView(text: string | undefined, longest: number): QueueAmountView | undefined {
  const amount = amountOf(text);
  if (text === undefined || amount === undefined) return undefined;
  const ratio = longest <= 0 ? 0 : Math.min(1, Math.max(0, amount / longest));
  return { text: readableAmount(text), ratio: Math.round(ratio * 10_000) / 10_000 };
}
