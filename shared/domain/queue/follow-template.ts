import { larger, minus, plus, type Whole } from '#shared/domain/quantity/whole.ts';
import type { QueueAmounts } from './queue.ts';

/*
 * Queues created from a template follow its later changes, field by field: a field that a user has changed or
 * taken over is left alone, and guarantees still come out of the parent's.
 */

/** The fields of a share by path, such as `weight` or `max.cpu`. */
export type ShareFields = ReadonlyMap<string, FieldValue>;
type FieldValue = string | number | boolean;

/** A queue created from a template. */
export interface MadeQueue {
  readonly name: string;
  /** Its current fields. */
  readonly live: ShareFields;
  /** What the leader wrote last; `undefined` if that is not recorded; then it follows no change. */
  readonly written: ShareFields | undefined;
  /** Fields that another writer owns, by path; a path without a dot includes all below it. */
  readonly taken: ReadonlySet<string>;
  readonly guaranteed: QueueAmounts;
}

export interface FollowQuestion {
  readonly template: ShareFields;
  /** What the template guarantees. */
  readonly each: QueueAmounts;
  /** The guarantee of the parent. */
  readonly guaranteed: QueueAmounts;
  /** The current guarantees of all queues below the parent, including those that an administrator created. */
  readonly promised: QueueAmounts;
  /** In this order queues get larger guarantees. */
  readonly made: readonly MadeQueue[];
}

/** A queue to change. */
export interface FollowStep {
  readonly name: string;
  /** By path; `undefined` removes the field. */
  readonly changes: ReadonlyMap<string, FieldValue | undefined>;
  /** What the leader has written after the change. */
  readonly written: ShareFields;
}

const GUARANTEED = 'guaranteed.';

/**
 * Which queues change with their template. A field follows if it is still as the leader wrote it and no other writer
 * owns it. The guarantees of a queue change together, and rise only if the parent's guarantee is enough for all:
 * otherwise the queue keeps its own, so that no queue loses any because others get more.
 */
export function followTemplate({ template, each, guaranteed, promised, made }: FollowQuestion): readonly FollowStep[] {
  let sum = promised;
  return made.flatMap((queue): FollowStep[] => {
    const { written } = queue;
    if (written === undefined) return [];
    const due = dueChanges(queue, written, template);
    const after = sumAfter(sum, queue, [...due.keys()].filter(isGuarantee), each);
    // The existing guarantees may already exceed that of the parent.
    const most = (type: string): Whole => larger(guaranteed.get(type) ?? 0, sum.get(type) ?? 0);
    const isCovered = [...after].every(([type, amount]) => amount <= most(type));
    if (isCovered) sum = after;
    const changes = isCovered ? due : new Map([...due].filter(([path]) => !isGuarantee(path)));
    return changes.size === 0 ? [] : [{ name: queue.name, changes, written: withChanges(written, changes) }];
  });
}

function isGuarantee(path: string): boolean {
  return path.startsWith(GUARANTEED);
}

type Changes = FollowStep['changes'];

function dueChanges({ live, taken }: MadeQueue, written: ShareFields, template: ShareFields): Changes {
  const due = new Map<string, FieldValue | undefined>();
  for (const path of new Set([...template.keys(), ...written.keys()])) {
    const value = template.get(path);
    const isOurs = live.get(path) === written.get(path) && !isTaken(taken, path);
    if (value !== written.get(path) && isOurs) due.set(path, value);
  }
  return due;
}

function isTaken(taken: ReadonlySet<string>, path: string): boolean {
  return taken.has(path) || taken.has(path.split('.')[0] ?? path);
}

/** The guarantees of all queues once those of one are as in the template. */
function sumAfter(sum: QueueAmounts, queue: MadeQueue, paths: readonly string[], each: QueueAmounts): QueueAmounts {
  const after = new Map<string, Whole>(sum);
  for (const path of paths) {
    const type = path.slice(GUARANTEED.length);
    const change = minus(each.get(type) ?? 0, queue.guaranteed.get(type) ?? 0);
    after.set(type, plus(after.get(type) ?? 0, change));
  }
  return after;
}

/** The fields after a change. */
export function withChanges(fields: ShareFields, changes: Changes): ShareFields {
  const next = new Map(fields);
  for (const [path, value] of changes) {
    if (value === undefined) next.delete(path);
    else next.set(path, value);
  }
  return next;
}
