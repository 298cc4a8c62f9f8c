import { durationSeconds, parseDuration } from '#shared/domain/pressure/parse-duration.ts';
import {
  AGGRESSIVENESS,
  type AffinityPolicy,
  type BadServicePolicy,
  MODES,
  type Percentages,
  type ReschedulingPolicy,
  type ScheduleWindow,
  type UnderusedPolicy,
} from '#shared/domain/rescheduling/policy.ts';
import { STOP_MS } from '#shared/domain/rescheduling/memory.ts';
import type { ReschedulingStatus } from '#shared/domain/rescheduling/status.ts';
import { readSelector } from '#shared/kube/decode/decode-objects.ts';
import {
  type Decoded,
  decodeObject,
  readBoolean,
  readChoice,
  readCount,
  readIdentity,
  readList,
  readObject,
  readPart,
  readText,
  readTexts,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { encodeEvictedPod } from './disruption.ts';
import {
  fieldsOf,
  instantOf,
  isWhole,
  listOf,
  textOf,
  encodeObject,
  encodeSelector,
  present,
  timeText,
  unlessEmpty,
} from './fields.ts';

/** The defaults of a policy. */
export const DEFAULT_PERIOD_SECONDS = 300;
const LEAST_PERIOD_SECONDS = 30;
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

/** Reads a `plimsoll.dev/v1alpha1` ReschedulingPolicy; an invalid value is refused with the path of its field. */
export function decodeReschedulingPolicy(raw: unknown): Decoded<ReschedulingPolicy> {
  return decodeObject(raw, (object) => ({
    name: readPart(object, 'metadata', readIdentity).name,
    ...readPart(object, 'spec', readSpec),
  }));
}

function readSpec(spec: WireObject): Omit<ReschedulingPolicy, 'name'> {
  return {
    nodeSelector: readSelector(spec, 'nodeSelector'),
    mode: readChoice(spec, 'mode', MODES) ?? 'DryRun',
    schedule: readPart(spec, 'schedule', readSchedule),
    underused: readObject(spec, 'underused', readUnderused),
    affinity: readObject(spec, 'affinity', readAffinity),
    badService: readObject(spec, 'badService', readBadService),
    aggressiveness: readChoice(spec, 'aggressiveness', AGGRESSIVENESS) ?? 'Medium',
    fitElsewhere: spec['fitElsewhere'] === undefined || readBoolean(spec, 'fitElsewhere'),
  };
}

function readSchedule(schedule: WireObject): ReschedulingPolicy['schedule'] {
  return {
    periodSeconds: readPeriod(schedule) ?? DEFAULT_PERIOD_SECONDS,
    windows: readList(schedule, 'windows', readWindow),
  };
}

function readPeriod(schedule: WireObject): number | undefined {
  const text = readText(schedule, 'period');
  if (text === undefined) return undefined;
  const parsed = parseDuration(text);
  if (!parsed.ok) return refuseField('period', parsed.message);
  const seconds = durationSeconds(parsed.nanoseconds);
  return seconds < LEAST_PERIOD_SECONDS
    ? refuseField('period', `expected at least ${LEAST_PERIOD_SECONDS}s, got ${text}`)
    : seconds;
}

function readWindow(window: WireObject): ScheduleWindow {
  return {
    days: readTexts(window, 'days').map((day) => dayOf(day)),
    start: readMinute(window, 'start'),
    end: readMinute(window, 'end'),
  };
}

function dayOf(name: string): number {
  const day = DAYS.findIndex((each) => each === name);
  return day < 0 ? refuseField('days', `expected ${DAYS.join(', ')}, got "${name}"`) : day;
}

const CLOCK = /^([01][0-9]|2[0-3]):([0-5][0-9])$/;

function readMinute(window: WireObject, key: string): number {
  const [, hours, minutes] = CLOCK.exec(readText(window, key) ?? '') ?? [];
  if (hours === undefined)
    return refuseField(key, `expected a time such as 22:00, got "${readText(window, key) ?? ''}"`);
  return Number(hours) * 60 + Number(minutes);
}

function readUnderused(underused: WireObject): UnderusedPolicy {
  return {
    by: readChoice(underused, 'by', ['Requests', 'Usage']) ?? 'Requests',
    low: readPart(underused, 'low', readPercentages),
    target: readPart(underused, 'target', readPercentages),
    gain: readGain(underused),
  };
}

function readPercentages(table: WireObject): Percentages {
  return new Map(Object.keys(table).map((resource) => [resource, readPercentage(table, resource)]));
}

function readPercentage(table: WireObject, resource: string): number {
  const percent = readCount(table, resource) ?? 0;
  return percent > 100 ? refuseField(resource, `expected at most 100, got ${percent}`) : percent;
}

const POINTS = /^[0-9]{1,4}(\.[0-9]{1,2})?$/;

function readGain(underused: WireObject): number | undefined {
  const text = readText(underused, 'gain');
  if (text === undefined) return undefined;
  return POINTS.test(text) ? Number(text) : refuseField('gain', `expected points such as 0.5, got "${text}"`);
}

function readAffinity(affinity: WireObject): AffinityPolicy {
  return {
    required: readBoolean(affinity, 'required'),
    preferred: readBoolean(affinity, 'preferred'),
    spread: readBoolean(affinity, 'spread'),
  };
}

const BAD_SERVICE_LIMITS = ['restarts', 'oomKills', 'refused', 'stalls'] as const;

function readBadService(badService: WireObject): BadServicePolicy {
  const [restarts, oomKills, refused, stalls] = BAD_SERVICE_LIMITS.map((key) => readLimit(badService, key));
  if ([restarts, oomKills, refused, stalls].every((limit) => limit === undefined))
    return refuseField('restarts', `expected at least one of ${BAD_SERVICE_LIMITS.join(', ')}`);
  const move = readChoice(badService, 'move', ['Victim', 'Aggressor']) ?? 'Victim';
  return { restarts, oomKills, refused, stalls, move };
}

function readLimit(badService: WireObject, key: (typeof BAD_SERVICE_LIMITS)[number]): number | undefined {
  const limit = readCount(badService, key);
  if (limit === 0) return refuseField(key, 'expected at least 1');
  const isPercent = key === 'stalls' && limit !== undefined;
  return isPercent && limit > 100 ? refuseField(key, `expected at most 100, got ${limit}`) : limit;
}

/** The object as the API server stores it, without its status. */
export function encodeReschedulingPolicy(policy: ReschedulingPolicy): object {
  const { name, nodeSelector, schedule, underused, badService, ...spec } = policy;
  return encodeObject(
    'ReschedulingPolicy',
    { name },
    {
      spec: present({
        ...spec,
        nodeSelector: nodeSelector && encodeSelector(nodeSelector),
        schedule: present({
          period: `${schedule.periodSeconds}s`,
          windows: unlessEmpty(schedule.windows.map(encodeWindow)),
        }),
        underused: underused && encodeUnderused(underused),
        badService: badService && present({ ...badService }),
      }),
    },
  );
}

function encodeWindow({ days, start, end }: ScheduleWindow): object {
  return present({ days: unlessEmpty(days.map((day) => DAYS[day])), start: clockText(start), end: clockText(end) });
}

function clockText(minute: number): string {
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

function encodeUnderused({ by, low, target, gain }: UnderusedPolicy): object {
  return present({
    by,
    low: Object.fromEntries(low),
    target: Object.fromEntries(target),
    gain: gain === undefined ? undefined : String(gain),
  });
}

const MAX_LENGTHS = 1_024;
const MAX_STOPPED = 20;

/** The owners that a policy leaves alone, as its status says. Never throws: an entry that cannot be read is left out. */
export function decodeStoppedOwners(raw: unknown): ReschedulingStatus['stopped'] {
  return listOf(fieldsOf(fieldsOf(raw)['status'])['stopped'], MAX_STOPPED, (entry) => {
    const [owner, text, until] = [
      textOf(entry['owner'], MAX_LENGTHS),
      textOf(entry['text'], MAX_LENGTHS),
      instantOf(entry['until']),
    ];
    const found = { owner, text, until };
    return isWhole(found) ? [found] : [];
  }).flat();
}

const MAX_NAMED = 3;

/** Only while owners are left alone; the time is that of the first of them. */
function schedulerDisagrees(stopped: ReschedulingStatus['stopped']): readonly object[] {
  if (stopped.length === 0) return [];
  const named = stopped.slice(0, MAX_NAMED).map(({ owner, text }) => `${owner}: ${text}`);
  const others = stopped.length > MAX_NAMED ? [`and ${stopped.length - MAX_NAMED} more owners in status.stopped`] : [];
  const since = Math.min(...stopped.map(({ until }) => until)) - STOP_MS;
  return [
    {
      type: 'SchedulerDisagrees',
      status: 'True',
      reason: 'OwnersStopped',
      message: [...named, ...others].join('; '),
      lastTransitionTime: timeText(since),
    },
  ];
}

/** The status after a pass; numbers with decimals are texts, as the API conventions demand. */
export function encodeReschedulingStatus(status: ReschedulingStatus): object {
  const { lastPass, moves, evicted, stopped, policies, ...counts } = status;
  return {
    ...counts,
    lastPass: timeText(lastPass),
    moves: moves.map(({ gain, because, ...move }) => ({ ...move, gain: String(gain), because: because.text })),
    evicted: evicted.map(encodeEvictedPod),
    stopped: stopped.map(({ until, ...owner }) => ({ ...owner, until: timeText(until) })),
    conditions: schedulerDisagrees(stopped),
    policies: policies.map(({ policy, rate, expected, reached }) => ({
      policy,
      rate: String(rate),
      expected: String(expected),
      reached: String(reached),
    })),
  };
}
