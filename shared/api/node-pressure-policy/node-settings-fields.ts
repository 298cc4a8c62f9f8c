import { z } from 'zod';
import { DEFAULT_NODE_SETTINGS, type NodeSettings } from '#shared/domain/nodes/node-settings.ts';
import { FAMILIES } from '#shared/domain/nodes/plan-node-changes.ts';
import { shareIn } from '#shared/domain/pressure/parse-percentage.ts';
import { NO_SPARE, type SpareSettings } from '#shared/domain/spare/spare-settings.ts';
import { DAY_MS, HOUR_MS } from '#shared/domain/base/durations.ts';
import { durationSeconds, parseDuration } from '#shared/domain/pressure/parse-duration.ts';
import { described } from '#shared/api/schema/crd-words.ts';
import { withoutAbsent } from '#shared/api/schema/decode-kind.ts';
import { text } from '#shared/api/schema/fields.ts';
import { refuseField } from '#shared/kube/decode/wire-object.ts';
import { choice, PERCENT_ALONE } from './signal-table.ts';

/*
 * What a NodePressurePolicy says about avoid lists, taints, conditions and spare room of its nodes. No word is a boolean of YAML,
 * such as `Off`, which the API server refuses.
 */

const NODE_MODES = ['Disabled', 'DryRun', 'Enforce'] as const;

function duration(description: string, defaultValue: string) {
  return text(description, { maxLength: 64, defaultValue });
}

const LOOP = described(
  z.object({
    rounds: described(
      z.int().min(2).max(16).exactOptional(),
      'How many times an owner must be evicted from one node within window.',
      { format: 'int32', minimum: 2, maximum: 16, defaultValue: 3 },
    ),
    window: duration('Period over which these evictions are counted, up to 24h.', '1h'),
    action: choice(
      ['Avoid', 'Forbid'],
      'Avoid makes the node the last choice for the owner. With Forbid the extender forbids it.',
      'Avoid',
    ),
  }),
  'When an owner that is evicted from a node again and again is in a loop, and what follows.',
);

export const AVOIDANCE = described(
  z.object({
    mode: choice(
      NODE_MODES,
      'Enforce writes the avoid lists of nodes, which keep replacements of evicted pods away. DryRun only logs them. Disabled does neither.',
      'DryRun',
    ),
    longest: duration('Longest time that an owner is kept away, also after a loop, up to 24h.', '1h'),
    loop: LOOP.optional(),
  }),
  'Avoid lists of the nodes. Changes take effect at once.',
);

export const TAINTS = described(
  z.object({
    mode: choice(
      NODE_MODES,
      'Enforce writes taints and conditions while a node is under pressure and its agent enforces. DryRun only logs them. Disabled does neither. Those that are there are removed in both.',
      'DryRun',
    ),
    families: described(
      z.array(z.enum(FAMILIES)).exactOptional(),
      'Resources with a taint and a condition. For Disk and Pid the kubelet has taints of its own. Default is Memory, Cpu and Io.',
      { 'x-kubernetes-list-type': 'set', maxItems: 5 },
    ),
    transitionPeriod: duration('How long a taint stays after the pressure has ended, up to 24h.', '60s'),
    unknownPeriod: duration("How long a taint stays while the agent's report is stale or missing, up to 24h.", '10m'),
  }),
  'Taints and conditions of the nodes. Changes take effect at once.',
);

const PERCENTAGE = { pattern: PERCENT_ALONE, maxLength: 64 };

export const SPARE = described(
  z.object({
    mode: choice(
      NODE_MODES,
      'DryRun measures and reports spare room. Enforce also offers it as plimsoll.dev/spare-memory and plimsoll.dev/spare-cpu of the nodes. Disabled does neither.',
      'DryRun',
    ),
    percentile: described(
      z.int().min(50).max(100).exactOptional(),
      'Percentage of rises in usage, as seen before, for which room is kept.',
      { format: 'int32', minimum: 50, maximum: 100, defaultValue: NO_SPARE.percentile },
    ),
    window: duration('Half of what was seen is forgotten after this time, 1h to 168h.', '24h'),
    margin: text('Share of the capacity that is kept free above the soft threshold, such as 5%.', {
      ...PERCENTAGE,
      defaultValue: '2.5%',
    }),
    max: text('Most that is lent, as a share of what pods can use, such as 50%.', {
      ...PERCENTAGE,
      defaultValue: '100%',
    }),
  }),
  'Spare room: what pods requested and do not use, lent to pods that can do without it. Nothing is measured if absent.',
);

interface WrittenNodeSettings {
  readonly avoidFor?: string | undefined;
  readonly avoidance?: z.output<typeof AVOIDANCE> | undefined;
  readonly taints?: z.output<typeof TAINTS> | undefined;
  readonly spare?: z.output<typeof SPARE> | undefined;
}

/** The settings, and the defaults for the rest; values that make no sense are refused with their field. */
export function nodeSettingsOf({ avoidFor, avoidance, taints, spare }: WrittenNodeSettings): NodeSettings {
  const { avoidance: usual, taints: shown } = DEFAULT_NODE_SETTINGS;
  return {
    avoidance: withDefaults(usual, {
      mode: avoidance?.mode,
      avoidForMs: parseDurationMs('avoidFor', avoidFor),
      longestMs: parseDurationMs('avoidance.longest', avoidance?.longest),
      loop: loopOf(avoidance?.loop),
    }),
    taints: withDefaults(shown, {
      mode: taints?.mode,
      families: taints?.families,
      transitionMs: parseDurationMs('taints.transitionPeriod', taints?.transitionPeriod),
      unknownMs: parseDurationMs('taints.unknownPeriod', taints?.unknownPeriod),
    }),
    spare: spareOf(spare),
  };
}

function loopOf(loop: z.output<typeof LOOP> | undefined): NodeSettings['avoidance']['loop'] {
  return withDefaults(DEFAULT_NODE_SETTINGS.avoidance.loop, {
    rounds: loop?.rounds,
    windowMs: parseDurationMs('avoidance.loop.window', loop?.window),
    isForbidding: loop?.action === 'Forbid',
  });
}

/** `spec.spare`, measured unless its mode says more or less. */
export function spareOf(spare: z.output<typeof SPARE> | undefined): SpareSettings {
  if (spare === undefined) return NO_SPARE;
  return withDefaults(NO_SPARE, {
    mode: spare.mode ?? 'DryRun',
    percentile: spare.percentile,
    windowMs: windowOf(spare.window),
    margin: parseShare('spare.margin', spare.margin),
    max: parseShare('spare.max', spare.max),
  });
}

function windowOf(window: string | undefined): number | undefined {
  const ms = parseDurationMs('spare.window', window, 7 * DAY_MS);
  return ms === undefined || ms >= HOUR_MS ? ms : refuseField('spare.window', `expected 1h to 168h, got "${window}"`);
}

function withDefaults<T extends object>(usual: T, written: { readonly [Key in keyof T]?: T[Key] | undefined }): T {
  return { ...usual, ...withoutAbsent(written) };
}

/** A duration as Kubernetes writes it, in milliseconds; up to a day unless another maximum is given. */
export function parseDurationMs(field: string, text: string | undefined, maxMs = DAY_MS): number | undefined {
  if (text === undefined) return undefined;
  const parsed = parseDuration(text);
  if (!parsed.ok) return refuseField(field, parsed.message);
  const ms = durationSeconds(parsed.nanoseconds) * 1000;
  if (ms >= 0 && ms <= maxMs) return ms;
  return refuseField(field, `expected 0s to ${maxMs / HOUR_MS}h, got "${text}"`);
}

/** A percentage as a share from 0 to 1. */
export function parseShare(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return shareIn(text) ?? refuseField(field, `expected a percentage from 0% to 100%, got "${text}"`);
}
