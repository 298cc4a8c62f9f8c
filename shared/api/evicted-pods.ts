import { z } from 'zod';
import { type EvictedPod, MAX_EVICTED } from '#shared/domain/disruption/disruption.ts';
import { encodeBySchema } from './schema/decode-kind.ts';
import { readReport } from './schema/decode-report.ts';
import { clipped, entries, INSTANT, name } from './schema/report-fields.ts';

/*
 * `status.evicted` of a ReschedulingPolicy or a Queue: only the process that evicts may write it, so that the record of
 * removed pods can take its causes from there.
 */

const NAME = name(512);
const TEXT = clipped(512);

const EVICTED_POD = z.codec(
  z.object({
    pod: NAME.required('Namespace and name.'),
    uid: NAME.required('UID of the pod.'),
    node: NAME.required('The node that it was on.'),
    decision: NAME.required('ID of the decision, as the Eviction carried it.'),
    at: INSTANT.required('When the API server accepted the eviction.'),
    code: TEXT.or('', 'The reason, for programs.'),
    because: TEXT.or('', 'The reason in words.'),
  }),
  z.custom<EvictedPod>(),
  {
    decode: ({ code, because, ...pod }) => ({ ...pod, because: { code, text: because, facts: {} } }),
    encode: ({ because, ...pod }) => ({ ...pod, code: because.code, because: because.text }),
  },
);

/** The pods that a status lists as evicted. */
export function evictedPods(description: string) {
  return entries(EVICTED_POD, MAX_EVICTED, description);
}

const EVICTING = z.object({ status: z.object({ evicted: evictedPods('').optional() }).optional() });

/** Never throws: unreadable entries are left out. */
export function decodeEvictedPods(raw: unknown): readonly EvictedPod[] {
  return readReport(EVICTING, raw)?.status?.evicted ?? [];
}

/** One of them, as it is written. */
export function encodeEvictedPod(pod: EvictedPod): object {
  return encodeBySchema(EVICTED_POD, pod);
}
