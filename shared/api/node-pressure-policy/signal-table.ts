import { z } from 'zod';
import { type CrdWords, described } from '#shared/api/schema/crd-words.ts';
import { field } from '#shared/api/schema/fields.ts';
import { readTextMap, refuseField, type WireObject } from '#shared/kube/decode/wire-object.ts';
import type { Mode } from './policy.ts';

/* The tables by signal of a NodePressurePolicy, which are the kubelet's own, and the modes of their thresholds. */

export const MODES = ['DryRun', 'Enforce'] as const;
const SIGNALS = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
];
const PERCENT = String.raw`(100(\.0*)?|[0-9]{1,2}(\.[0-9]*)?)%`;
/** From 0% to 100%. */
export const PERCENT_ALONE = `^${PERCENT}$`;
const SUFFIX = '([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+';
export const THRESHOLD = String.raw`^(${PERCENT}|\+?([0-9]*[1-9][0-9]*(\.[0-9]*)?|[0-9]*\.[0-9]*[1-9][0-9]*)${SUFFIX})?)$`;
export const RECLAIM = String.raw`^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)${SUFFIX}|%)?$`;
export const SHORT = { minLength: 1, maxLength: 64 };

/** A table by signal, such as `memory.available`. */
type BySignal<T extends string = string> = Readonly<Record<string, T>>;

type TableName = `eviction${'Hard' | 'Soft' | 'SoftGracePeriod' | 'MinimumReclaim' | 'HardMode' | 'SoftMode'}`;

export function table<T extends string>(
  name: TableName,
  description: string,
  values: CrdWords,
  read: (spec: WireObject, key: string) => BySignal<T>,
) {
  const readSet = (spec: WireObject, key: string) =>
    (spec[key] ?? undefined) === undefined ? undefined : read(spec, key);
  const list = SIGNALS.map((signal) => `'${signal}'`).join(', ');
  const rule = {
    rule: `self.all(signal, signal in [${list}])`,
    message: `${name}: unknown signal; known are ${SIGNALS.join(', ')}`,
  };
  return field(
    { read: readSet, write: (value) => value },
    {
      type: 'object',
      maxProperties: 16,
      additionalProperties: { type: 'string', ...values },
      description,
      'x-kubernetes-validations': [rule],
    },
  );
}

export function readTable(spec: WireObject, key: string): BySignal {
  return Object.fromEntries(readTextMap(spec, key));
}

export function readModes(spec: WireObject, key: string): BySignal<Mode> {
  const modes = readTable(spec, key);
  const unknown = Object.values(modes).find((each) => !MODES.some((mode) => mode === each));
  if (unknown !== undefined) return refuseField(key, `expected DryRun or Enforce, got "${unknown}"`);
  return modes as BySignal<Mode>;
}

/** One of some words; without it the default holds. */
export function choice<const C extends readonly string[]>(choices: C, description?: string, defaultValue?: C[number]) {
  return described(z.enum(choices).exactOptional(), description, {
    ...(defaultValue !== undefined && { defaultValue }),
  });
}
