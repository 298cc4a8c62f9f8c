/** On how many nodes each reason holds. */
export type ReasonCounts = Map<string, number>;

/** Counts the reasons of one more node. */
export function countReasons(counts: ReasonCounts, reasons: readonly string[]): void {
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
}

/** `0/4 nodes are available: 1 Too many pods, 3 Insufficient cpu.` `pkg/scheduler/framework/types.go` FitError. */
export function reasonsText(nodeCount: number, counts: ReasonCounts): string {
  const parts = Array.from(counts, ([reason, nodes]) => `${nodes} ${reason}`);
  return unavailableText(nodeCount, parts.sort().join(', '));
}

/** The same frame around a text that holds for the pod as a whole. */
export function unavailableText(nodeCount: number, text: string): string {
  return `0/${nodeCount} nodes are available: ${text}.`;
}
