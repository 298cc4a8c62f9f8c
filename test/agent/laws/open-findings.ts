/**
 * Breaches of the laws that are known and not closed yet, as `law: cause`. The list only shrinks: whoever closes one
 * deletes its line.
 */
const OPEN: readonly RegExp[] = [
  // A leak that comes back uses up the windows, and the kernel kills where the kubelet alone would have evicted.
  /^(asked|oom|innocents|short): /,
  // A request without an answer counts as an ending pod.
  /^gate: untrue: EnoughEnding$/,
  // Where all pods end, nothing is named.
  /^gate: no gate$/,
  // Seen in 1 of 1000 episodes and not yet understood.
  /^gate: untrue: (NodeLimit|NobodyMayGo \(.*\))$/,
  // Seen in 1 of 4000 episodes: a victim of the kubelet that has not ended, and one order of ranking.
  /^inside: (evicted by the kubelet|ranking ShareOfRequest)$/,
];

/** Whether a finding is on the list. */
export function isOpen(finding: string): boolean {
  return OPEN.some((pattern) => pattern.test(finding));
}
