import { expect, test } from 'vitest';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
import { nodePressureStatus } from '#agent/report/node-pressure-status.ts';
import { DEFAULT_STALL_RULES, STILL_WINDOW_MS, type StallRatio } from '#shared/api/node-pressure-policy/policy.ts';
import { memoryReadings, policy, type Scene, snapshot } from '#test/agent/node-scene.ts';

function statusOf(scene: Scene) {
  const seen = snapshot(scene);
  const rules = policy({ stallRules: DEFAULT_STALL_RULES.map((rule) => ({ ...rule, gracePeriodMs: 0 })) });
  const decision = decide(FIRST_STATE, seen, rules);
  return nodePressureStatus(
    { snapshot: seen, policy: rules, decision },
    {
      agent: { version: '1', pod: 'agent-x' },
      records: [],
      doubts: { sources: undefined, policies: { count: 0, problem: undefined } },
      wallOffsetMs: 0,
      generation: 1,
      previous: undefined,
    },
  );
}

test('the usage of a candidate is in the unit of its request, also while CPU is short', () => {
  const stalls = [STILL_WINDOW_MS, 10_000, 300_000].map((windowMs): StallRatio => ({
    signal: 'cpu.pressure',
    share: 'some',
    windowMs,
    ratio: 0.9,
  }));
  const { next } = statusOf({
    now: 0,
    availableMiB: 500,
    pods: [{ name: 'busy', requests: { cpu: '1' }, cpuNanoCores: 1.5e9 }],
    snapshot: { stalls, cpu: { availableCores: 0.01, cores: 2 } },
  });
  expect(next).toMatchObject([{ pod: 'default/busy', usage: '1500m', request: '1' }]);
});

test('a disk of which only inodes are known is measured', () => {
  const inodes = { at: 0, availableBytes: undefined, capacityBytes: undefined, inodesFree: 10, inodes: 100 };
  const readings = { ...memoryReadings(500, 1000, 0), nodeFilesystem: inodes };
  const { conditions } = statusOf({ now: 0, snapshot: { readings } });
  expect(conditions.find(({ type }) => type === 'Disk')).toMatchObject({ status: 'False', reason: 'NoPressure' });
});
