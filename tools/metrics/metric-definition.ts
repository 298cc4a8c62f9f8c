export type MetricType = 'counter' | 'gauge' | 'histogram';

/** A metric as its code registers it. */
export interface MetricDefinition {
  readonly name: string;
  readonly type: MetricType;
  readonly help: string;
  readonly labels: readonly string[];
}

const UNITS: readonly (readonly [suffix: string, unit: string])[] = [
  ['_timestamp_seconds', 'seconds since 1970'],
  ['_bytes_per_second', 'bytes per second'],
  ['_seconds', 'seconds'],
  ['_bytes', 'bytes'],
  ['_ratio', '0 to 1'],
  ['_cores', 'cores'],
  ['_info', 'always 1'],
  ['_total', 'count'],
];

/** The unit in the name of a metric, else in its help. */
export function unitOf({ name }: Pick<MetricDefinition, 'name'>): string {
  return UNITS.find(([suffix]) => name.endsWith(suffix))?.[1] ?? '';
}
