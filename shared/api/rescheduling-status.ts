import { STOP_MS } from '#shared/domain/rescheduling/memory.ts';
import type { ReschedulingStatus } from '#shared/domain/rescheduling/status.ts';
import { encodeEvictedPod } from './disruption.ts';
import { fieldsOf, instantOf, isWhole, listOf, textOf, timeText } from './fields.ts';

/* The status of a ReschedulingPolicy: only the process that makes the passes writes it. */

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
