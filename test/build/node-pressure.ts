import type { NodePressureFacts } from '#shared/domain/snapshot/cluster-snapshot.ts';

/** A node under no pressure, never observed, with nothing to avoid, unless said otherwise. */
export function buildPressure(node: string, facts: Partial<NodePressureFacts> = {}): NodePressureFacts {
  return {
    node,
    observedAt: undefined,
    isEnforced: false,
    pressure: undefined,
    overRequest: new Set(),
    evicting: new Set(),
    avoid: [],
    ...facts,
  };
}
