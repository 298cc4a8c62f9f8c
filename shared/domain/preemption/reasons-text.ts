/** Texts that hold for a number of nodes. */
export interface ReasonCount {
  readonly reasons: readonly string[];
  readonly nodes: number;
}

/** `0/4 nodes are available: 1 Too many pods, 3 Insufficient cpu.` `pkg/scheduler/framework/types.go` FitError. */
export function reasonsText(nodeCount: number, counts: readonly ReasonCount[]): string {
  const nodesByReason = new Map<string, number>();
  for (const { reasons, nodes } of counts) {
    if (nodes === 0) continue;
    for (const reason of reasons) nodesByReason.set(reason, (nodesByReason.get(reason) ?? 0) + nodes);
  }
  const parts = Array.from(nodesByReason, ([reason, nodes]) => `${nodes} ${reason}`);
  return unavailableText(nodeCount, parts.sort().join(', '));
}

/** The same frame around a text that holds for the pod as a whole. */
export function unavailableText(nodeCount: number, text: string): string {
  return `0/${nodeCount} nodes are available: ${text}.`;
}
