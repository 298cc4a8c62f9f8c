/** Ordinary pods have some KiB; a pod of this size is parsed and decoded in a few milliseconds. */
const MOST_POD_BYTES = 256 * 1024;
/** Names come first in an object. */
const NAMES_BYTES = 2_048;
const BEGINNING = '{"Pod":';
/**
 * What follows the pod, by `k8s.io/kube-scheduler/extender/v1` types.go. In a text of the pod each quotation mark is
 * escaped, and the value of a label or annotation of that name is a text.
 */
const FOLLOWERS = [',"NodeNameToVictims":null', ',"NodeNameToVictims":{'];

/**
 * A question about a preemption without its pod where that is very large: JSON cannot be parsed in steps, and a pod of the
 * size that the API server stores would keep the event loop for up to a tenth of a second. `undefined` for all other
 * requests. What is left is enough to answer by protection. `filter` needs the whole pod: a large one could otherwise take
 * set-aside room.
 */
export function withoutLargePod(bytes: Buffer): Buffer | undefined {
  if (bytes.length <= MOST_POD_BYTES || !bytes.subarray(0, BEGINNING.length).equals(Buffer.from(BEGINNING)))
    return undefined;
  const ends = FOLLOWERS.map((follower) => bytes.indexOf(follower)).filter((end) => end > MOST_POD_BYTES);
  if (ends.length === 0) return undefined;
  const end = Math.min(...ends);
  const pod = JSON.stringify(stubOf(bytes.subarray(BEGINNING.length, end)));
  return Buffer.concat([Buffer.from(BEGINNING + pod), bytes.subarray(end)]);
}

function stubOf(pod: Buffer): object {
  const beginning = pod.toString('utf8', 0, NAMES_BYTES);
  const textOf = (key: string): string => new RegExp(`"${key}":"([^"\\\\]*)"`).exec(beginning)?.[1] ?? '';
  const metadata = { name: textOf('name'), namespace: textOf('namespace'), uid: textOf('uid') };
  // Only the priority of the spec is a number.
  const priority = /"priority":(-?\d+)/.exec(pod.toString('latin1'))?.[1];
  return { metadata, spec: priority === undefined ? {} : { priority: Number(priority) } };
}
