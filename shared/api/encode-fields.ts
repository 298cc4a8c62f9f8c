import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { LabelSelector, Requirement } from '#shared/domain/labels/label-selector.ts';
import { API_VERSION } from '#shared/kube/api-names.ts';

/** An object of ours as the API server takes it. */
export function encodeObject(kind: string, metadata: Fields, parts: Fields): object {
  return present({ apiVersion: API_VERSION, kind, metadata: present(metadata), ...parts });
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields that have a value. */
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
