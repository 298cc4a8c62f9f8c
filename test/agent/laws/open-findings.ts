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

/** Whether a finding is on the list. */
export function isOpen(finding: string): boolean {
  return OPEN.some((pattern) => pattern.test(finding));
}
