import { decodePolicy } from '#shared/api/node-pressure-policy/decode-policy.ts';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { decide, type PassResult } from '#shared/decide/eviction/decide.ts';
import type { NodeSnapshot } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { type NodePod, snapshot } from '#test/agent/node-scene.ts';

const NANO_PER_MILLI = 1e6;

/** A Burstable pod that requests 500m of CPU unless it says otherwise. */
export function burning(name: string, used: number, fields: Partial<NodePod> = {}): NodePod {
  return { name, requests: { cpu: '500m' }, cpuNanoCores: used * NANO_PER_MILLI, ...fields };
}

const THROTTLING = {
  mode: 'Enforce',
  cpu: { mode: 'Enforce' },
  relief: ['ThrottleCPU', 'Evict'],
  evictionHard: {},
};

export interface CpuScene {
  readonly pods?: readonly NodePod[];
  /** Idle cores of four, of which 5 % are to be idle. */
  readonly idle?: number | undefined;
  /** Share of time in which tasks of the node wait for CPU. */
  readonly waiting?: number;
  /** What it changes of a policy that throttles. */
  readonly spec?: object;
  readonly snapshot?: Partial<NodeSnapshot>;
}

/** One pass over a node of four cores that is short of CPU unless the scene says otherwise. */
export function cpuPass({ pods = [], idle = 0, waiting = 0.9, spec = {}, ...scene }: CpuScene, now = 0): PassResult {
  const decoded = decodePolicy({ metadata: { name: 'p' }, spec: { ...THROTTLING, ...spec } });
  if (!decoded.ok) throw new Error(`${decoded.field}: ${decoded.message}`);
  const { policy } = decoded.value;
  const stalls = [500, 10_000, 300_000].map((windowMs) => {
    return { signal: 'cpu.pressure', share: 'some', windowMs, ratio: waiting } as const;
  });
  const cpu = { availableCores: 0, cores: 4, idleNow: idle };
  const seen = snapshot({ now, pods, snapshot: { stalls, cpu, ...scene.snapshot } });
  return { snapshot: seen, policy, decision: decide(FIRST_STATE, seen, policy) };
}
