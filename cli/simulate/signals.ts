/** Signals whose thresholds the agent acts on; disks are left to the kubelet. */
export const SIGNALS = ['memory.available', 'allocatableMemory.available', 'pid.available'] as const;
export type SimulatedSignal = (typeof SIGNALS)[number];
