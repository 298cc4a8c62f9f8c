import { z } from 'zod';
import { durationSeconds, parseDuration } from '#shared/domain/pressure/parse-duration.ts';
import {
  AGGRESSIVENESS,
  type BadServicePolicy,
  MODES,
  type Percentages,
  type ReschedulingPolicy,
} from '#shared/domain/rescheduling/policy.ts';
import {
  type Decoded,
  readCount,
  readPart,
  readText,
  readTexts,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { described } from './schema/crd-words.ts';
import { decodeKind, encodeKind } from './schema/decode-kind.ts';
import { field, flag, labelSelector, list, NAME, requiredField } from './schema/fields.ts';

/** The defaults of a policy. */
export const DEFAULT_PERIOD_SECONDS = 300;
const LEAST_PERIOD_SECONDS = 30;
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

function readPeriod(schedule: WireObject, key: string): number {
  const text = readText(schedule, key);
  if (text === undefined) return DEFAULT_PERIOD_SECONDS;
  const parsed = parseDuration(text);
  if (!parsed.ok) return refuseField(key, parsed.message);
  const seconds = durationSeconds(parsed.nanoseconds);
  return seconds < LEAST_PERIOD_SECONDS
    ? refuseField(key, `expected at least ${LEAST_PERIOD_SECONDS}s, got ${text}`)
    : seconds;
}

function readDays(window: WireObject, key: string): readonly number[] {
  return readTexts(window, key).map((name) => {
    const day = DAYS.findIndex((each) => each === name);
    return day < 0 ? refuseField(key, `expected ${DAYS.join(', ')}, got "${name}"`) : day;
  });
}

function writeDays(days: readonly number[]): unknown {
  return days.length === 0 ? undefined : days.map((day) => DAYS[day]);
}

const CLOCK = /^([01][0-9]|2[0-3]):([0-5][0-9])$/;

/** A time of the day, in minutes. */
function clock(description: string) {
  const read = (window: WireObject, key: string): number => {
    const text = readText(window, key) ?? '';
    const [, hours, minutes] = CLOCK.exec(text) ?? [];
    if (hours === undefined) return refuseField(key, `expected a time such as 22:00, got "${text}"`);
    return Number(hours) * 60 + Number(minutes);
  };
  const write = (minute: number): string => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
  const pattern = '^([01][0-9]|2[0-3]):[0-5][0-9]$';
  return requiredField({ read, write }, { type: 'string', maxLength: 5, pattern, description });
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** Percentages by resource; `least` is the bound of the definition alone. */
function percentages(description: string, least: number) {
  const read = (underused: WireObject, key: string): Percentages =>
    readPart(underused, key, (table) => new Map(Object.keys(table).map((name) => [name, readPercentage(table, name)])));
  const values = { type: 'integer', minimum: least, maximum: 100 };
  return field(
    { read, write: (value) => Object.fromEntries(value) },
    {
      isRequired: true,
      type: 'object',
      minProperties: 1,
      maxProperties: 16,
      additionalProperties: values,
      description,
    },
  );
}

function readPercentage(table: WireObject, resource: string): number {
  const percent = readCount(table, resource) ?? 0;
  return percent > 100 ? refuseField(resource, `expected at most 100, got ${percent}`) : percent;
}

const POINTS = /^[0-9]{1,4}(\.[0-9]{1,2})?$/;

function readGain(underused: WireObject, key: string): number | undefined {
  const text = readText(underused, key);
  if (text === undefined) return undefined;
  return POINTS.test(text) ? Number(text) : refuseField(key, `expected points such as 0.5, got "${text}"`);
}

/** From `max` on, the definition alone refuses; more than all of a percentage makes no sense. */
function limit(description: string, max: number, isPercent = false) {
  const read = (badService: WireObject, key: string): number | undefined => {
    const value = readCount(badService, key);
    if (value === 0) return refuseField(key, 'expected at least 1');
    return isPercent && value !== undefined && value > 100
      ? refuseField(key, `expected at most 100, got ${value}`)
      : value;
  };
  return field({ read, write: (value) => value }, { type: 'integer', minimum: 1, maximum: max, description });
}

const AT_LEAST_ONE = 'expected at least one of restarts, oomKills, refused, stalls';

const SCHEDULE = z.codec(
  described(
    z.object({
      period: field(
        { read: readPeriod, write: (seconds) => `${seconds}s` },
        {
          type: 'string',
          maxLength: 32,
          defaultValue: '5m',
          description: 'Time between two passes, at least 30s.',
          'x-kubernetes-validations': [
            { rule: "duration(self) >= duration('30s')", message: 'period must be at least 30s' },
          ],
        },
      ),
      windows: list(
        z.object({
          days: field(
            { read: readDays, write: writeDays },
            {
              type: 'array',
              'x-kubernetes-list-type': 'set',
              maxItems: 7,
              items: {
                type: 'string',
                enum: ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'],
              },
              description: 'Days on which the window starts. If empty, every day.',
            },
          ),
          start: clock('Time of the day, such as 22:00.'),
          end: clock('Time of the day; one that is not after the start is on the next day.'),
        }),
        'Times of the week, in UTC, in which pods are moved. If empty, always.',
        { maxItems: 16 },
      ),
    }),
    'When passes are made.',
  ),
  z.custom<ReschedulingPolicy['schedule']>(),
  {
    decode: ({ period, windows }) => ({ periodSeconds: period, windows }),
    encode: ({ periodSeconds, windows }) => ({ period: periodSeconds, windows }),
  },
);

const BAD_SERVICE = z.codec(
  described(
    z.object({
      restarts: limit(
        'Restarts of a pod, whatever ended its containers, from which on it counts as failing.',
        1_000_000,
      ),
      oomKills: limit(
        'How often a pod was killed for memory, from which on it counts as failing. Without a report of an agent, the restarts of containers that were last killed for memory count.',
        1_000_000,
      ),
      refused: limit(
        'Pods of an owner that the kubelet of a node refused within an hour, from which on the owner is kept away from the node for an hour. No pod is evicted for it.',
        1_000,
      ),
      stalls: limit(
        'Percent of the time in which a pod waits for cpu, memory or io, from which on it counts as failing. It needs fresh NodePressure reports.',
        100,
        true,
      ),
      move: described(
        z.enum(['Victim', 'Aggressor']).default('Victim'),
        'Whether the failing pod moves (Victim), or the pod of its node that uses most of the resource that it lacks beyond its request (Aggressor). The pod that is refused is always the one that goes elsewhere.',
      ),
    }),
    'Moves pods off nodes on which they fail. At least one of restarts, oomKills, refused and stalls is required.',
    {
      'x-kubernetes-validations': [
        {
          rule: 'has(self.restarts) || has(self.oomKills) || has(self.refused) || has(self.stalls)',
          message: AT_LEAST_ONE,
        },
      ],
    },
  ),
  z.custom<BadServicePolicy>(),
  {
    decode: (limits, context) => {
      const { restarts, oomKills, refused, stalls } = limits;
      if ([restarts, oomKills, refused, stalls].some((each) => each !== undefined)) return limits;
      context.issues.push({ code: 'custom', path: ['restarts'], message: AT_LEAST_ONE, input: limits });
      return z.NEVER;
    },
    encode: ({ restarts, oomKills, refused, stalls, move }) => ({ restarts, oomKills, refused, stalls, move }),
  },
);

export const RESCHEDULING_POLICY_SPEC = described(
  z.object({
    nodeSelector: labelSelector('Labels of the nodes that pods are moved from and to. If absent, all nodes.'),
    mode: described(
      z.enum(MODES).default('DryRun'),
      'DryRun only reports the moves of each pass, Enforce evicts the pods.',
    ),
    schedule: SCHEDULE.optional(),
    underused: described(
      z.object({
        by: described(
          z.enum(['Requests', 'Usage']).default('Requests'),
          'Whether requests or measured usage, from fresh NodePressure reports, count.',
        ),
        low: percentages('Percent of allocatable by resource. A node below it in every resource can take pods.', 0),
        target: percentages(
          'Percent of allocatable by resource. Pods are moved off a node that is above it in any resource.',
          1,
        ),
        gain: field(
          { read: readGain, write: (value) => (value === undefined ? undefined : String(value)) },
          {
            type: 'string',
            maxLength: 7,
            pattern: POINTS.source,
            description:
              'The least gain of a move in points, a hundred times the fall of the sum of squared loads. If absent, the aggressiveness decides.',
          },
        ),
      }),
      'Moves pods from nodes above target while some node is below low.',
    ).optional(),
    affinity: described(
      z.object({
        required: flag('Node selectors, required node affinity and required anti-affinity.'),
        preferred: flag('Preferred node affinity.'),
        spread: flag('Topology spread constraints with DoNotSchedule.'),
      }),
      'Moves pods off nodes on which their rules are broken or are met less well than elsewhere.',
    ).optional(),
    badService: BAD_SERVICE.optional(),
    aggressiveness: described(
      z.enum(AGGRESSIVENESS).default('Medium'),
      'How small a gain is worth a move, and how much of every budget is left unused.',
    ),
    fitElsewhere: described(
      z.boolean().default(true),
      'Move a pod only if it is seen to fit on another node; pods with volumes or claims that Plimsoll does not model then stay.',
    ),
  }),
  'What is moved, when, and how cautiously. Without any of underused, affinity and badService, nothing is.',
  {
    'x-kubernetes-validations': [
      {
        rule: '!has(self.underused) || self.underused.low.all(resource, resource in self.underused.target && self.underused.low[resource] < self.underused.target[resource])',
        message: 'every resource of underused.low must be in underused.target, with a higher percentage',
      },
    ],
  },
);

const POLICY = z.codec(z.object({ metadata: NAME, spec: RESCHEDULING_POLICY_SPEC }), z.custom<ReschedulingPolicy>(), {
  decode: ({ metadata: { name = '' }, spec }) => ({
    ...spec,
    name,
    underused: spec.underused,
    affinity: spec.affinity,
    badService: spec.badService,
    schedule: spec.schedule ?? { periodSeconds: DEFAULT_PERIOD_SECONDS, windows: [] },
  }),
  encode: ({ name, ...spec }) => ({ metadata: { name }, spec }),
});

/** Reads a `plimsoll.dev/v1alpha1` ReschedulingPolicy; an invalid value is refused with the path of its field. */
export function decodeReschedulingPolicy(raw: unknown): Decoded<ReschedulingPolicy> {
  return decodeKind(POLICY, raw);
}

/** The object as the API server stores it, without its status. */
export function encodeReschedulingPolicy(policy: ReschedulingPolicy): object {
  return encodeKind('ReschedulingPolicy', POLICY, policy);
}
