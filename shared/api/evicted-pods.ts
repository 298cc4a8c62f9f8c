import { type EvictedPod, MAX_EVICTED } from '#shared/domain/disruption/disruption.ts';
import { fieldsOf, instantOf, isWhole, keyOf, listOf, textOf, timeText } from './fields.ts';

/*
 * `status.evicted` of a ReschedulingPolicy or a Queue: only the process that evicts may write it, so that the record of
 * removed pods can take its causes from there.
 */

const LONGEST = 512;

/** The pods that the status says were evicted. Never throws: an entry that cannot be read is left out. */
export function decodeEvictedPods(raw: unknown): readonly EvictedPod[] {
  const { status } = fieldsOf(raw);
  return listOf(fieldsOf(status)['evicted'], MAX_EVICTED, (entry) => {
    const [pod, uid] = [keyOf(entry['pod'], LONGEST), keyOf(entry['uid'], LONGEST)];
    const [node, decision] = [keyOf(entry['node'], LONGEST), keyOf(entry['decision'], LONGEST)];
    const [at, code, text] = [
      instantOf(entry['at']),
      textOf(entry['code'], LONGEST),
      textOf(entry['because'], LONGEST),
    ];
    const found = { pod, uid, node, decision, at, because: { code: code ?? '', text: text ?? '', facts: {} } };
    return isWhole(found) ? [found] : [];
  }).flat();
}

/** One of them, as it is written. */
export function encodeEvictedPod({ at, because, ...pod }: EvictedPod): object {
  return { ...pod, at: timeText(at), code: because.code, because: because.text };
}
