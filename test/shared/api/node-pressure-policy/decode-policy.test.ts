import { describe, expect, test } from 'vitest';
import { DEFAULT_NODE_SETTINGS } from '#shared/domain/nodes/node-settings.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { ThresholdValue } from '#shared/domain/pressure/threshold.ts';
import { decodePolicy } from '#shared/api/node-pressure-policy/decode-policy.ts';
import { DEFAULT_POLICY, DEFAULT_STALL_RULES } from '#shared/api/node-pressure-policy/policy.ts';
import { DEFAULT_LIMITS } from '#shared/domain/eviction/eviction-limits.ts';

function decode(spec: unknown) {
  return decodePolicy({ metadata: { name: 'p' }, spec });
}

function policyOf(spec: unknown) {
  const decoded = decode(spec);
  if (!decoded.ok) throw new Error(`${decoded.field}: ${decoded.message}`);
  return decoded.value;
}

function describeAmount(value: ThresholdValue): string | number {
  return value.kind === 'amount' ? formatQuantity(value.amount) : value.share;
}

describe('decodePolicy', () => {
  test('an empty policy is the defaults under its own name', () => {
    expect(policyOf({})).toEqual({
      spec: {},
      policy: { ...DEFAULT_POLICY, name: 'p' },
      nodes: DEFAULT_NODE_SETTINGS,
    });
    expect(decodePolicy({ metadata: { name: 'p' } })).toEqual(decode({}));
  });

  test('the kubelet’s keys are used unchanged', () => {
    const { policy } = policyOf({
      mode: 'Enforce',
      evictionHard: { 'memory.available': '500Mi', 'pid.available': '10%' },
      evictionSoft: { 'memory.available': '1.5Gi' },
      evictionSoftGracePeriod: { 'memory.available': '1m30s' },
      evictionMinimumReclaim: { 'memory.available': '0' },
      evictionPressureTransitionPeriod: '30s',
      evictionMaxPodGracePeriod: 60,
    });
    expect(policy.mode).toBe('Enforce');
    expect(policy.transitionPeriodMs).toBe(30_000);
    expect(policy.mostGraceSeconds).toBe(60);
    const found = policy.thresholds.map(({ signal, value, gracePeriodSeconds }) => [
      signal,
      describeAmount(value),
      gracePeriodSeconds,
    ]);
    expect(found).toEqual([
      ['memory.available', '500Mi', 0],
      ['pid.available', Math.fround(0.1), 0],
      ['memory.available', '1536Mi', 90],
      ['allocatableMemory.available', '500Mi', 0],
    ]);
  });

  const allocatable = (spec: object) =>
    policyOf(spec)
      .policy.thresholds.filter(({ signal }) => signal === 'allocatableMemory.available')
      .map(({ value, minimumReclaim }) => [value, minimumReclaim].map((each) => each && describeAmount(each)));

  test.each<[sentence: string, spec: object, expected: readonly unknown[]]>([
    ['without a policy', {}, [['250Mi', undefined]]],
    [
      'in pasted settings, with their minimum reclaim',
      { evictionHard: { 'memory.available': '10%' }, evictionMinimumReclaim: { 'memory.available': '1Gi' } },
      [[Math.fround(0.1), '1Gi']],
    ],
    [
      'unless the policy has another value for it',
      { evictionHard: { 'memory.available': '1Gi', 'allocatableMemory.available': '200Mi' } },
      [['200Mi', undefined]],
    ],
    ['or switches it off', { evictionHard: { 'memory.available': '1Gi', 'allocatableMemory.available': '0%' } }, []],
    [
      'a soft threshold is not copied, as the kubelet does not',
      { evictionSoft: { 'memory.available': '1Gi' }, evictionSoftGracePeriod: { 'memory.available': '1m' } },
      [],
    ],
  ])('a hard memory threshold holds for the limit of all pods too: %s', (_sentence, spec, expected) => {
    expect(allocatable(spec)).toEqual(expected);
  });

  test('settings of one table alone leave no default of another', () => {
    expect(policyOf({ evictionHard: {} }).policy.thresholds).toEqual([]);
  });

  test('ranking, limits, protection and selection', () => {
    const { spec, policy } = policyOf({
      nodeSelector: { matchLabels: { pool: 'batch' } },
      order: 7,
      ranking: { keys: ['qos', 'runTime'], daemonSets: 'Rank' },
      missingStats: 'First',
      limits: { concurrent: 0 },
      protect: { namespaces: ['db'], optOutCeiling: -5, optOut: 'Always', withinRequest: true },
    });
    expect(spec.nodeSelector?.matchLabels).toEqual(new Map([['pool', 'batch']]));
    expect(spec.order).toBe(7);
    expect(policy.ranking).toEqual({
      ranking: { keys: ['qos', 'runTime'] },
      daemonSets: 'Rank',
      missingStats: 'First',
    });
    expect(policy.limits).toEqual({ ...DEFAULT_LIMITS, concurrent: 0 });
    expect(policy.protect).toEqual({ namespaces: ['db'], optOutCeiling: -5, optOut: 'Always', withinRequest: true });
  });

  test('pressure rules in two windows, io only reported', () => {
    const { policy } = policyOf({
      mode: 'Enforce',
      pressure: [
        { signal: 'memory.pressure', stall: 'some', avg10: '30%', avg300: '5%', whileAvailableBelow: '20%' },
        { signal: 'io.pressure', avg10: '90%', avg60: '90%' },
      ],
    });
    expect(policy.stallRules).toEqual([
      {
        signal: 'memory.pressure',
        share: 'some',
        short: { windowMs: 10_000, ratio: Math.fround(0.3) },
        long: { windowMs: 300_000, ratio: Math.fround(0.05) },
        evidence: { signal: 'memory.available', below: { kind: 'share', share: Math.fround(0.2) } },
        gracePeriodMs: 0,
        mode: 'Enforce',
      },
    ]);
  });

  test('CPU stays a dry run unless its own mode says otherwise', () => {
    const cpuRule = (spec: object) =>
      policyOf({ mode: 'Enforce', ...spec }).policy.stallRules.find(({ signal }) => signal === 'cpu.pressure');
    expect(cpuRule({})).toEqual(DEFAULT_STALL_RULES[1]);
    expect(cpuRule({ pressure: [{ signal: 'cpu.pressure', avg10: '50%', avg60: '50%' }] })).toMatchObject({
      mode: 'DryRun',
    });
    expect(cpuRule({ cpu: { mode: 'Enforce', available: '2%', gracePeriod: '10m' } })).toMatchObject({
      mode: 'Enforce',
      gracePeriodMs: 600_000,
      evidence: { signal: 'cpu.available', below: { kind: 'share', share: Math.fround(0.02) } },
    });
  });

  test('what must be left of the CPU may be an amount of cores', () => {
    const [, rule] = policyOf({ cpu: { available: '500m' } }).policy.stallRules;
    expect(rule?.evidence).toEqual({
      signal: 'cpu.available',
      below: { kind: 'amount', amount: expect.objectContaining({ mantissa: 500, exponent: -3 }) as unknown },
    });
  });

  test.each(['Reclaimable', 'Kubelet'] as const)('memoryFigure %s', (memoryFigure) => {
    expect(policyOf({ memoryFigure }).policy.memoryFigure).toBe(memoryFigure);
  });

  test.each<[spec: unknown, field: string, message: string]>([
    [{ memoryFigure: 'MemFree' }, 'spec.memoryFigure', 'expected Reclaimable or Kubelet, got "MemFree"'],
    [{ cpu: { available: 'half' } }, 'spec.cpu.available', 'expected an amount above 0 such as 500m or a percentage'],
    [{ cpu: { available: '0' } }, 'spec.cpu.available', 'expected an amount above 0'],
    [{ cpu: { available: '110%' } }, 'spec.cpu.available', 'a percentage from 0% to 100%, got "110%"'],
    [{ budgets: { severe: 'Override' } }, 'spec.budgets.severe', 'expected Respect, got "Override"'],
    [{ mode: 'Sometimes' }, 'spec.mode', 'expected DryRun or Enforce, got "Sometimes"'],
    [{ mode: 5 }, 'spec.mode', 'expected a text, got 5'],
    [
      { evictionHard: { 'memory.available': '-5' } },
      'spec.evictionHard',
      'eviction threshold memory.available must be positive: -5',
    ],
    [{ evictionHard: { 'memory.free': '5' } }, 'spec.evictionHard', 'unsupported eviction signal memory.free'],
    [
      { evictionSoft: { 'memory.available': '5%' } },
      'spec.evictionHard',
      'grace period must be specified for the soft eviction threshold memory.available',
    ],
    [
      { evictionPressureTransitionPeriod: '30d' },
      'spec.evictionPressureTransitionPeriod',
      'time: unknown unit "d" in duration "30d"',
    ],
    [
      { evictionPressureTransitionPeriod: '720h' },
      'spec.evictionPressureTransitionPeriod',
      'expected 0s to 24h, got "720h"',
    ],
    [{ limits: { concurrent: -1 } }, 'spec.limits.concurrent', 'expected at least 0, got -1'],
    [{ limits: { perMinute: 1.5 } }, 'spec.limits.perMinute', 'expected a whole number, got 1.5'],
    [
      { pressure: [{ signal: 'memory.pressure', avg10: '20%' }] },
      'spec.pressure[0].avg10',
      'expected two of avg10, avg60 and avg300',
    ],
    [
      { pressure: [{ signal: 'disk.pressure' }] },
      'spec.pressure[0].signal',
      'expected memory.pressure or cpu.pressure or io.pressure, got "disk.pressure"',
    ],
    [
      { pressure: [{ signal: 'memory.pressure', avg10: '120%', avg60: '1%' }] },
      'spec.pressure[0].avg10',
      'expected a percentage from 0% to 100%, got "120%"',
    ],
    [
      { ranking: { keys: ['age'] } },
      'spec.ranking.keys',
      'expected exceedsRequests, priority, usageAboveRequests, shareOfRequest, qos, runTime, got "age"',
    ],
    [{ missingStats: 'Maybe' }, 'spec.missingStats', 'expected Never or Last or First, got "Maybe"'],
    ['nonsense', 'spec', 'expected an object'],
  ])('%j is refused with its field (B-38)', (spec, field, message) => {
    const decoded = decode(spec);
    expect(decoded).toMatchObject({ ok: false, field });
    expect(decoded.ok ? '' : decoded.message).toContain(message);
  });

  test('each threshold and each pressure rule may have a mode of its own', () => {
    const { policy } = policyOf({
      mode: 'Enforce',
      evictionHard: { 'memory.available': '500Mi', 'pid.available': '10%' },
      evictionSoft: { 'memory.available': '1Gi' },
      evictionSoftGracePeriod: { 'memory.available': '1m' },
      evictionHardMode: { 'memory.available': 'DryRun' },
      evictionSoftMode: { 'memory.available': 'Enforce' },
      pressure: [
        { signal: 'memory.pressure', avg10: '20%', avg60: '10%', mode: 'DryRun' },
        { signal: 'cpu.pressure', avg10: '50%', avg300: '40%' },
      ],
      cpu: { mode: 'Enforce' },
    });
    const modes = policy.thresholds.map(({ id, signal, gracePeriodSeconds }) => [
      signal,
      gracePeriodSeconds,
      policy.thresholdModes.get(id),
    ]);
    expect(modes).toEqual([
      ['memory.available', 0, 'DryRun'],
      ['pid.available', 0, undefined],
      ['memory.available', 60, 'Enforce'],
      ['allocatableMemory.available', 0, 'DryRun'],
    ]);
    expect(policy.stallRules.map(({ signal, mode }) => [signal, mode])).toEqual([
      ['memory.pressure', 'DryRun'],
      ['cpu.pressure', 'Enforce'],
    ]);
  });

  test('the thresholds without a policy have modes as well', () => {
    const { policy } = policyOf({ mode: 'Enforce', evictionSoftMode: { 'memory.available': 'DryRun' } });
    expect([...policy.thresholdModes.keys()]).toEqual([expect.stringContaining('for 30 s')]);
  });

  test.each<[sentence: string, spec: object, field: string, message: string]>([
    [
      'a mode for a threshold that is not there',
      { evictionHard: { 'memory.available': '1Gi' }, evictionHardMode: { 'pid.available': 'DryRun' } },
      'spec.evictionHardMode',
      'no threshold is set for pid.available',
    ],
    [
      'a mode that is none',
      { evictionHardMode: { 'memory.available': 'Sometimes' } },
      'spec.evictionHardMode',
      'expected DryRun or Enforce, got "Sometimes"',
    ],
    [
      'a mode of cpu.pressure besides cpu.mode',
      { pressure: [{ signal: 'cpu.pressure', avg10: '50%', avg60: '40%', mode: 'Enforce' }] },
      'spec.pressure[0].mode',
      'set the mode of cpu.pressure in cpu.mode',
    ],
  ])('%s is refused', (_sentence, spec, field, message) => {
    expect(decode(spec)).toEqual({ ok: false, field, message });
  });

  test('how many pods of one owner may go is a limit like the others', () => {
    expect(policyOf({ limits: { perOwnerPerHour: 0 } }).policy.perOwnerPerHour).toBe(0);
    expect(policyOf({ limits: { perMinute: 9 } }).policy.perOwnerPerHour).toBe(3);
  });

  test('the generation and what an operator confirmed stand in its metadata', () => {
    const annotations = { 'plimsoll.dev/confirmed-generation': '7' };
    const decoded = decodePolicy({ metadata: { name: 'p', generation: 7, annotations }, spec: {} });
    expect(decoded).toMatchObject({ value: { policy: { generation: 7, confirmedGeneration: 7 } } });
    const odd = decodePolicy({
      metadata: { name: 'p', annotations: { ...annotations, 'plimsoll.dev/confirmed-generation': 'yes' } },
    });
    expect(odd).toMatchObject({ value: { policy: { generation: 0, confirmedGeneration: undefined } } });
  });
});
