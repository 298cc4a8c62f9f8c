import { MOST_RECORDS, type ThresholdRecord } from '#shared/domain/pressure/threshold-record.ts';
import { choiceOf, type Fields, fieldsOf, instantOf, integerOf, keyOf, listOf, timeText } from '#shared/api/fields.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';

const LONGEST_RULE = 256;
const LONGEST_NAME = 253;
const MOST_NODES = 16;
const STATES = ['New', 'Held', 'Confirmed'] as const;

/** Reads `status.thresholds` of a NodePressurePolicy. Never throws: an entry that cannot be read is left out. */
export function decodeThresholdRecords(raw: KubeObject): readonly ThresholdRecord[] {
  return listOf(fieldsOf(raw['status'])['thresholds'], MOST_RECORDS, decodeRecord);
}

function decodeRecord(entry: Fields): ThresholdRecord | undefined {
  const rule = keyOf(entry['rule'], LONGEST_RULE);
  const state = choiceOf(entry['state'], STATES);
  const generation = integerOf(entry['generation']);
  const since = instantOf(entry['since']);
  if (rule === undefined || state === undefined || generation === undefined || since === undefined) return undefined;
  const nodes: readonly unknown[] = Array.isArray(entry['nodes']) ? entry['nodes'].slice(0, MOST_NODES) : [];
  return { rule, state, generation, since, nodes: nodes.map((node) => keyOf(node, LONGEST_NAME)).filter(isText) };
}

function isText(text: string | undefined): text is string {
  return text !== undefined;
}

/** The records as the API server takes them. */
export function encodeThresholdRecords(records: readonly ThresholdRecord[]): readonly object[] {
  return records.map((record) => ({ ...record, since: timeText(record.since) }));
}
