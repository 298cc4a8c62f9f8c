/*
 * Pods of which a number runs together or not at all. What a gang is, is decided here once: queues let it in, plan it
 * and hold it whole, and whatever removes pods counts it as one victim.
 */
import type { Because } from '#shared/domain/base/because.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import {
  GANG_FULL,
  GROUP_NOT_FOUND,
  GROUP_NOT_READ,
  OTHER_QUEUE,
  OTHER_SIZE,
  SEVERAL_QUEUES,
  SEVERAL_SIZES,
} from './messages.ts';

/** More is neither planned nor measured. */
export const MAX_GANG_SIZE = 1_000;

/** What a pod says about the gang that it belongs to. */
export interface GangWish {
  readonly name: string;
  /** How many pods it has; `undefined` if only its minimum is known. */
  readonly size: number | undefined;
  /** How many of them run together or not at all; `undefined` if that is the size, or if a PodGroup says it. */
  readonly min: number | undefined;
  /** The API group of the PodGroup of this name that says the minimum. */
  readonly groupOf?: PodGroupApi;
  /** Why the pod belongs to no gang although it names one. */
  readonly problem?: Because;
}

export type PodGroupApi = 'scheduling.k8s.io' | 'scheduling.x-k8s.io';

export interface GangMember {
  readonly uid: string;
  /** `namespace/name`. */
  readonly name: string;
  readonly queue: string;
  readonly gang: GangWish;
  /** It was let in or is on a node. */
  readonly isIn: boolean;
  /** What its controllers run as one: a pod of another run has not succeeded for this one. */
  readonly run: string | undefined;
}

/** Members of one namespace that name the same gang, at most as many as its size. */
export interface Gang<M extends GangMember = GangMember> {
  /** `namespace/name`. */
  readonly key: string;
  readonly queue: string;
  /** What still has to run together: members that have succeeded are not waited for. */
  readonly min: number;
  readonly size: number;
  /** Those that are in come first, then in the given order. */
  readonly members: readonly M[];
}

/** Pods that name a gang and belong to none, for one reason. */
export interface RefusedMembers<M extends GangMember = GangMember> {
  readonly members: readonly M[];
  readonly because: Because;
}

export interface GangGroups<M extends GangMember = GangMember> {
  /** In the order of their first members. */
  readonly gangs: readonly Gang<M>[];
  readonly refused: readonly RefusedMembers<M>[];
}

export interface GangFacts {
  /** The minimum that a PodGroup says. */
  readonly minOf: (group: {
    readonly api: PodGroupApi;
    readonly namespace: string;
    readonly name: string;
  }) => MinOfGroup;
  /** How many pods of this gang and this run have succeeded. */
  readonly succeeded: (gang: string, run: string) => number;
}

/** `undefined` if there is no such group yet, `Unread` as long as that is not known, `None` if its pods form no gang. */
export type MinOfGroup = number | 'Unread' | 'None' | undefined;

/** Identifies a gang in the cluster: one name in two namespaces is two gangs. */
export function gangKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/**
 * Groups pods by the gang that they name. Members contradict each other if they name different sizes or stand in
 * different queues. Then those that are in say what holds, so that a pod that comes later takes nothing from a gang that
 * runs; without any, all of them wait.
 */
export function groupGangs<M extends GangMember>(members: readonly M[], facts: GangFacts): GangGroups<M> {
  const [wrong, right] = [members.filter(hasProblem), members.filter((member) => !hasProblem(member))];
  const gangs: Gang<M>[] = [];
  const refused: RefusedMembers<M>[] = Array.from(
    Map.groupBy(wrong, ({ gang }) => gang.problem?.text).values(),
    (each) => ({
      members: each,
      because: each[0]?.gang.problem as Because,
    }),
  );
  for (const [key, named] of Map.groupBy(right, keyOf)) {
    const found = gangOf(key, named, facts);
    if (found.gang !== undefined) gangs.push(found.gang);
    for (const each of found.refused) refused.push(each);
  }
  return { gangs, refused };
}

function hasProblem({ gang }: GangMember): boolean {
  return gang.problem !== undefined;
}

function keyOf({ name, gang }: GangMember): string {
  return gangKey(namespaceOf(name), gang.name);
}

function namespaceOf(name: string): string {
  return name.slice(0, name.indexOf('/'));
}

interface Found<M extends GangMember> {
  readonly gang: Gang<M> | undefined;
  readonly refused: readonly RefusedMembers<M>[];
}

function gangOf<M extends GangMember>(key: string, members: readonly M[], facts: GangFacts): Found<M> {
  const settled = members.filter(({ isIn }) => isIn);
  const [model] = settled.length > 0 ? settled : members;
  if (model === undefined) return { gang: undefined, refused: [] };
  const contradiction = contradictionIn(key, settled.length > 0 ? settled : members);
  if (contradiction !== undefined) return refuseAll(members, contradiction);
  const isFitting = (member: M): boolean => sizeOf(member) === sizeOf(model) && member.queue === model.queue;
  const [fitting, misfits] = [members.filter(isFitting), members.filter((member) => !isFitting(member))];
  const refused = misfits.map((member) => ({ members: [member], because: misfit(key, member, model) }));
  const min = minOf(key, model, facts);
  if (min === 'None') return { gang: undefined, refused };
  if (typeof min !== 'number') return refuseAll(members, min);
  const gang = wholeGang(key, fitting, { model, min, succeeded: succeededWith(key, fitting, facts) });
  const own = new Set(gang.members);
  const beyond = fitting.filter((member) => !member.isIn && !own.has(member));
  const full = GANG_FULL({ gang: key, size: gang.size }, { gang: key, size: gang.size });
  return { gang, refused: beyond.length === 0 ? refused : [...refused, { members: beyond, because: full }] };
}

function refuseAll<M extends GangMember>(members: readonly M[], because: Because): Found<M> {
  return { gang: undefined, refused: [{ members, because }] };
}

interface Model {
  readonly model: GangMember;
  readonly min: number;
  readonly succeeded: number;
}

function wholeGang<M extends GangMember>(
  key: string,
  members: readonly M[],
  { model, min, succeeded }: Model,
): Gang<M> {
  const ordered = [...members.filter(({ isIn }) => isIn), ...members.filter(({ isIn }) => !isIn)];
  const inside = members.filter(({ isIn }) => isIn).length;
  // Without a size, all that wait start together; beyond the largest gang they come one by one once it runs.
  const most = inside >= min ? Infinity : MAX_GANG_SIZE;
  const named = Math.max(min, Math.min(members.length, most));
  const size = model.gang.size === undefined ? named : sizeLeft(model.gang.size, members.length, succeeded);
  return {
    key,
    queue: model.queue,
    min: Math.max(1, min - succeeded),
    size: Math.max(1, size),
    members: ordered.slice(0, Math.max(1, size, inside)),
  };
}

/** A Job that has more to complete than run at once replaces pods that have succeeded: they take no place of others. */
function sizeLeft(size: number, present: number, succeeded: number): number {
  return Math.max(size - succeeded, Math.min(size, present));
}

function succeededWith(gang: string, members: readonly GangMember[], facts: GangFacts): number {
  const runs = new Set(members.flatMap(({ run }) => run ?? []));
  return Array.from(runs).reduce((sum, run) => sum + facts.succeeded(gang, run), 0);
}

/** As members name it, for comparing. */
function sizeOf({ gang: { size, min, groupOf } }: GangMember): string {
  if (groupOf !== undefined) return `as its PodGroup of ${groupOf} says`;
  if (size === undefined) return `at least ${min}`;
  return min === undefined || min === size ? String(size) : `${size} (at least ${min})`;
}

function contradictionIn(gang: string, members: readonly GangMember[]): Because | undefined {
  const sizes = counted(members, sizeOf);
  if (sizes !== undefined) return SEVERAL_SIZES({ gang, counted: sizes }, { gang, sizes });
  const queues = counted(members, ({ queue }) => queue);
  return queues === undefined ? undefined : SEVERAL_QUEUES({ gang, counted: queues }, { gang, queues });
}

const MAX_COUNTED = 3;

/** Each value with the number of its pods, the most frequent first; `undefined` if there is only one. */
function counted(members: readonly GangMember[], valueOf: (member: GangMember) => string): string | undefined {
  const groups = [...Map.groupBy(members, valueOf)].map(([value, { length }]) => ({ value, length }));
  if (groups.length < 2) return undefined;
  groups.sort((a, b) => b.length - a.length || compareTexts(a.value, b.value));
  const texts = groups.slice(0, MAX_COUNTED).map(({ value, length }) => `${value} (${length} of its pods)`);
  return [...texts, ...(groups.length > MAX_COUNTED ? [`${groups.length - MAX_COUNTED} more`] : [])].join(', ');
}

function misfit(gang: string, member: GangMember, model: GangMember): Because {
  const [own, others] = [sizeOf(member), sizeOf(model)];
  if (own !== others) return OTHER_SIZE({ gang, own, others }, { gang, own, others });
  const queues = { own: member.queue, others: model.queue };
  return OTHER_QUEUE({ gang, ...queues }, { gang, ...queues });
}

function minOf(gang: string, { gang: wish, name }: GangMember, facts: GangFacts): number | 'None' | Because {
  const { groupOf: api } = wish;
  if (api === undefined) return wish.min ?? wish.size ?? 1;
  const min = facts.minOf({ api, namespace: namespaceOf(name), name: wish.name });
  if (min === 'Unread') return GROUP_NOT_READ({ gang, api }, { gang, api });
  return min ?? GROUP_NOT_FOUND({ gang, api }, { gang, api });
}
