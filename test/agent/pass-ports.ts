import type { PassPorts } from '#agent/pass.ts';

/** Ports of a cycle on a node without history, doubts or holds, with the periods of the DaemonSet. */
export const QUIET_PORTS = {
  avoided: () => new Set<string>(),
  history: () => ({ evictions: [], rules: [] }),
  restored: () => undefined,
  doubts: () => new Map(),
  doubtfulPods: () => new Map(),
  isKubeletSilent: () => false,
  isKubeletReady: () => true,
  hasMemoryPressure: () => false,
  closedGates: () => [],
  requested: () => undefined,
  answered: () => undefined,
  periods: { nearMs: 100, raceMs: 10, farMs: 1000, podsMs: 1000, slowMs: 10_000 },
} satisfies Partial<PassPorts>;
