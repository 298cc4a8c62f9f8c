import type { Instant } from '#shared/domain/pod/pod.ts';
import { isRecord } from '#shared/kube/decode/wire-object.ts';
import type { Amounts } from '#shared/domain/quantity/quantity.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { LabelSelector, Requirement } from '#shared/domain/labels/label-selector.ts';
import { API_VERSION } from '#shared/kube/api-names.ts';

/** A JSON object whose fields are read one by one. */
export type Fields = Readonly<Record<string, unknown>>;

const NO_FIELDS: Fields = {};

/** The object in a field; a value of another type counts as an object without fields. */
export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : NO_FIELDS;
}

/** A text, cut at `longest` characters; empty counts as absent. */
export function textOf(value: unknown, longest: number): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, longest) : undefined;
}

/** A name: a text longer than `longest` counts as absent, because truncated it would name something else. */
export function keyOf(value: unknown, longest: number): string | undefined {
  return typeof value === 'string' && value.length <= longest ? textOf(value, longest) : undefined;
}

/** A whole number. */
export function integerOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

/** One of `choices`. */
export function choiceOf<T extends string>(value: unknown, choices: readonly T[]): T | undefined {
  return choices.find((choice) => choice === value);
}

/** An RFC 3339 time. */
export function instantOf(value: unknown): Instant | undefined {
  const instant = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(instant) ? undefined : instant;
}

/** The first `most` objects of a list that `read` accepts; it returns `undefined` for the others. */
export function listOf<T>(value: unknown, most: number, read: (item: Fields) => T | undefined): readonly T[] {
  const items: readonly unknown[] = Array.isArray(value) ? value.slice(0, most) : [];
  return items.map((item) => read(fieldsOf(item))).filter((item) => item !== undefined);
}

/** One of our objects as the API server accepts it. */
export function encodeObject(kind: string, metadata: Fields, parts: Fields): object {
  return present({ apiVersion: API_VERSION, kind, metadata: present(metadata), ...parts });
}

/** The fields with a value. */
export function present(fields: Fields): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** A list, or `undefined` for an empty one, which is left out. */
export function unlessEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** An RFC 3339 time. */
export function timeText(instant: Instant): string {
  return new Date(instant).toISOString();
}

/** The same without fractions of a second, as Kubernetes writes it. */
export function secondsText(instant: Instant): string {
  return timeText(instant).replace(/\.\d+Z$/, 'Z');
}

/** Quantities by resource name, in the spelling in which they were read. */
export function encodeAmounts(amounts: Amounts): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from(amounts, ([name, amount]) => [name, formatQuantity(amount)]));
}

/** A `metav1` LabelSelector; empty parts are left out. */
export function encodeSelector({ matchLabels, matchExpressions }: LabelSelector): object {
  return present({
    matchLabels: matchLabels.size === 0 ? undefined : Object.fromEntries(matchLabels),
    matchExpressions: unlessEmpty(matchExpressions.map(encodeRequirement)),
  });
}

function encodeRequirement({ key, operator, values }: Requirement): object {
  return present({ key, operator, values: unlessEmpty(values) });
}
