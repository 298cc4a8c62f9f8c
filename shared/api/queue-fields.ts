import { type FollowStep, type ShareFields, withChanges } from '#shared/domain/queue/follow-template.ts';
import { fieldOf, isRecord, itemsOf, jsonIn } from '#shared/kube/decode/wire-object.ts';
import { encodeShare, type QueueShare } from './queue.ts';

/** The fields of a share by path, as they are written in a spec or a template. */
export function shareFields(share: QueueShare): ShareFields {
  return fieldsIn(encodeShare(share));
}

/** Two levels: a share has no deeper ones. */
function fieldsIn(value: unknown): ShareFields {
  const fields = Object.entries(isRecord(value) ? value : {}).flatMap(([key, inner]): [string, unknown][] =>
    isRecord(inner) ? Object.entries(inner).map(([sub, leaf]) => [`${key}.${sub}`, leaf]) : [[key, inner]],
  );
  return new Map(fields.filter((each): each is [string, string | number | boolean] => isLeaf(each[1])));
}

function isLeaf(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** Reads the annotation `plimsoll.dev/from-template`; `undefined` if there is none that can be read. */
export function decodeWrittenFields(text: string | undefined): ShareFields | undefined {
  const value = text === undefined ? undefined : jsonIn(text);
  return isRecord(value) ? fieldsIn(value) : undefined;
}

/** The annotation's text. */
export function encodeWrittenFields(fields: ShareFields): string {
  return JSON.stringify(Object.fromEntries(fields));
}

/**
 * The merge patch of a spec: a map that would become empty is removed, because the API server does not accept an empty
 * one.
 */
export function shareChanges(live: ShareFields, changes: FollowStep['changes']): object {
  const left = withChanges(live, changes);
  const patch: Record<string, unknown> = {};
  for (const [path, value] of changes) {
    const [key = '', ...rest] = path.split('.');
    const sub = rest.join('.');
    if (sub === '') patch[key] = value ?? null;
    else if ([...left.keys()].every((each) => !each.startsWith(`${key}.`))) patch[key] = null;
    else patch[key] = { ...(patch[key] as object), [sub]: value ?? null };
  }
  return patch;
}

/** The fields of the spec that other writers own, by path, from `metadata.managedFields`. */
export function fieldsOfOthers(managedFields: unknown, writer: string): ReadonlySet<string> {
  const others = itemsOf(managedFields).filter((entry) => fieldOf(entry, 'manager') !== writer);
  return new Set(others.flatMap((entry) => ownedPaths(fieldOf(fieldOf(entry, 'fieldsV1'), 'f:spec'))));
}

/** `f:max` with `f:cpu` in it is `max.cpu`; a field without any is owned whole. */
function ownedPaths(owned: unknown): readonly string[] {
  return namesIn(owned).flatMap(([name, inner]) => {
    const below = namesIn(inner);
    return below.length === 0 ? [name] : below.map(([sub]) => `${name}.${sub}`);
  });
}

function namesIn(owned: unknown): readonly (readonly [string, unknown])[] {
  return Object.entries(isRecord(owned) ? owned : {}).flatMap(([key, inner]) =>
    key.startsWith('f:') ? [[key.slice(2), inner] as const] : [],
  );
}
