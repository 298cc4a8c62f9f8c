/*
 * Spare room: what important pods requested and do not use, lent to pods that can do without it. A node offers it as two
 * extended resources, which the stock scheduler counts.
 */

export const SPARE_KINDS = ['memory', 'cpu'] as const;
export type SpareKind = (typeof SPARE_KINDS)[number];
export type BySpareKind<T> = Readonly<Record<SpareKind, T>>;

/** Memory in bytes, CPU in millicores: extended resources are whole numbers. */
export const SPARE_RESOURCES: BySpareKind<string> = {
  memory: 'plimsoll.dev/spare-memory',
  cpu: 'plimsoll.dev/spare-cpu',
};
