/**
 * Breaches of the laws that are known and not closed yet, as `law: cause`. The list only shrinks: whoever closes one
 * deletes its line.
 */
const OPEN: readonly RegExp[] = [
  // The kubelet taints its node before it evicts; where nothing taints the node of the agent, the replacement of its
  // victim comes back and takes as much again (seeds 20262422, 20264291).
  /^(innocents|oom|short): a replacement lands on the node$/,
  // After a relief by the agent the kubelet looks again ten seconds later; if the API server fails meanwhile, the kernel
  // is first (seed 20263164).
  /^(innocents|oom|short): the API server fails$/,
  // A victim that outlives SIGKILL counts as freed, and keeps its slot, for the five seconds of its clean-up, and its relief
  // is awaited (seeds 20271443, 20272530, 20267319).
  /^asked: (Outstanding|EnoughEnding|AwaitingRelief|no gate)/,
];

/** Episodes whose breach is rare enough to be named by its seed. */
const OPEN_SEEDS: ReadonlySet<number> = new Set([
  // After a request without an answer the message says that the last attempt was refused.
  20278419, 20283461, 20284205, 20298747, 20401620, 20409121,
  // The status still counts an eviction in flight whose request the API server has just answered.
  20281889, 20300275,
  // One of the counted reasons is that of a request which the API server stored but did not answer.
  20291863, 20331756, 20362805, 20409899,
  // A pod within its request is evicted by the kubelet or killed, and is not without the agent; the cause is not known.
  20313647,
]);

/** Whether a finding is on the list: by its cause, or by each of its seeds. */
export function isOpen(finding: string, seeds: readonly number[]): boolean {
  return OPEN.some((pattern) => pattern.test(finding)) || seeds.every((seed) => OPEN_SEEDS.has(seed));
}
