import { z } from 'zod';
import { STOP_MS } from '#shared/domain/rescheduling/memory.ts';
import type { ReschedulingStatus } from '#shared/domain/rescheduling/status.ts';
import { encodeEvictedPod } from './evicted-pods.ts';
import { timeText } from './fields.ts';
import { encodeBySchema } from './schema/decode-kind.ts';
import { readReport } from './schema/decode-report.ts';
import { clipped, entries, INSTANT } from './schema/report-fields.ts';

/* The status of a ReschedulingPolicy: only the process that makes the passes writes it. */

const TEXT = clipped(1_024);
const MAX_STOPPED = 20;

const STOPPED_OWNER = z.object({
  owner: TEXT.required('Namespace, kind and name.'),
  until: INSTANT.required('How long.'),
  text: TEXT.required('Why.'),
});
export const STOPPED_OWNERS = entries(
  STOPPED_OWNER,
  MAX_STOPPED,
  'Owners that are left alone because kube-scheduler disagrees.',
);
const STOPPING = z.object({ status: z.object({ stopped: STOPPED_OWNERS.optional() }).optional() });

/** The owners that a policy leaves alone, as its status says. Never throws: an entry that cannot be read is left out. */
export function decodeStoppedOwners(raw: unknown): ReschedulingStatus['stopped'] {
  return readReport(STOPPING, raw)?.status?.stopped ?? [];
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
    stopped: stopped.map((owner) => encodeBySchema(STOPPED_OWNER, owner)),
    conditions: schedulerDisagrees(stopped),
    policies: policies.map(({ policy, rate, expected, reached }) => ({
      policy,
      rate: String(rate),
      expected: String(expected),
      reached: String(reached),
    })),
  };
}
