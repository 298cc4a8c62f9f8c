/**
 * Breaches of the laws that are known and not closed yet, as `law: cause`. The list only shrinks: whoever closes one
 * deletes its line.
 */
const OPEN: readonly RegExp[] = [
  // A pod above its request is held by a wish, a budget, a fault or its own ending, and one inside goes instead.
  /^inside: /,
  // Windows, an opt-out, or a pod that does not end keep the agent from the pod that takes the memory.
  /^asked: .*(NodeLimit|NamespaceLimit|ProtectedOptOut|Outstanding|opted out)/,
  // What follows from these.
  /^(oom|innocents|short): /,
  // Nothing is named where all pods end, and a request without an answer counts as an ending pod.
  /^gate: (no gate|untrue: EnoughEnding)$/,
];

/** Whether a finding is on the list. */
export function isOpen(finding: string): boolean {
  return OPEN.some((pattern) => pattern.test(finding));
}
