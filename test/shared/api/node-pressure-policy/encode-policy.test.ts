import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodePolicy, encodeNodePressurePolicy } from '#shared/api/node-pressure-policy/decode-policy.ts';
import { selector, word } from '#test/shared/api/generated-fields.ts';
import { valueOf } from '#test/build/value-of.ts';

const mode = fc.constantFrom('DryRun', 'Enforce');
const duration = fc.constantFrom('0s', '10s', '1m30s', '.5h', '5m');
const percentage = fc.nat(100).map((share) => `${share}%`);
const amount = fc.constantFrom('5%', '250Mi', '1.5Gi', '12.5%');
const signal = fc.constantFrom('memory.available', 'nodefs.available', 'pid.available');
const bySignal = <T>(value: fc.Arbitrary<T>) => fc.dictionary(signal, value, { noNullPrototype: true });
const optional = { requiredKeys: [] };

const windows = fc
  .constantFrom(['avg10', 'avg60'], ['avg10', 'avg300'], ['avg60', 'avg300'])
  .chain(([short, long]) =>
    fc.tuple(percentage, percentage).map((shares) => ({ [short]: shares[0], [long]: shares[1] })),
  );
const stall = fc
  .tuple(
    fc.record(
      {
        signal: fc.constantFrom('memory.pressure', 'io.pressure'),
        stall: fc.constantFrom('some', 'full'),
        mode,
        whileAvailableBelow: percentage,
      },
      { requiredKeys: ['signal'] },
    ),
    windows,
  )
  .map(([rule, shares]) => ({ ...rule, ...shares }));

const hard = fc.record({ evictionHard: bySignal(amount), evictionMinimumReclaim: bySignal(amount) }, optional);
const soft = bySignal(amount).chain((evictionSoft) => {
  const graces = Object.keys(evictionSoft).map((key) => [key, '1m'] as const);
  const modes = Object.keys(evictionSoft).map((key) => [key, 'DryRun'] as const);
  return fc.constantFrom(
    {},
    {
      evictionSoft,
      evictionSoftGracePeriod: Object.fromEntries(graces),
      evictionSoftMode: Object.fromEntries(modes),
    },
  );
});
const rest = fc.record(
  {
    nodeSelector: selector,
    order: fc.integer(),
    mode,
    memoryFigure: fc.constantFrom('Reclaimable', 'Kubelet'),
    evictionPressureTransitionPeriod: duration,
    evictionMaxPodGracePeriod: fc.nat(),
    pressure: fc.array(stall, { maxLength: 3 }),
    cpu: fc.record({ mode, available: amount, gracePeriod: duration }, optional),
    ranking: fc.record(
      {
        preset: fc.constantFrom('Kubernetes', 'ShareOfRequest'),
        keys: fc.array(fc.constantFrom('exceedsRequests', 'priority', 'qos', 'runTime'), { maxLength: 4 }),
        daemonSets: fc.constantFrom('Last', 'Rank'),
      },
      optional,
    ),
    missingStats: fc.constantFrom('Never', 'Last', 'First'),
    limits: fc.record(
      {
        concurrent: fc.nat(),
        perMinute: fc.nat(),
        perTenMinutes: fc.nat(),
        perNamespacePerTenMinutes: fc.nat(),
        perOwnerPerHour: fc.nat(),
      },
      optional,
    ),
    relief: fc.constantFrom<('ThrottleCPU' | 'Evict')[]>(['Evict'], ['ThrottleCPU', 'Evict']),
    budgets: fc.record({ mild: fc.constant('Respect'), severe: fc.constant('Respect') }, optional),
    protect: fc.record(
      {
        namespaces: fc.array(word, { maxLength: 3 }),
        optOutCeiling: fc.integer(),
        optOut: fc.constantFrom('WithinRequest', 'Always'),
        withinRequest: fc.boolean(),
      },
      optional,
    ),
    avoidFor: duration,
    avoidance: fc.record(
      {
        mode: fc.constantFrom('Disabled', 'DryRun', 'Enforce'),
        longest: duration,
        loop: fc.record(
          { rounds: fc.integer({ min: 2, max: 16 }), window: duration, action: fc.constantFrom('Avoid', 'Forbid') },
          optional,
        ),
      },
      optional,
    ),
    taints: fc.record(
      {
        mode: fc.constantFrom('Disabled', 'DryRun', 'Enforce'),
        families: fc.uniqueArray(fc.constantFrom('Memory', 'Cpu', 'Io', 'Disk', 'Pid')),
        transitionPeriod: duration,
        unknownPeriod: duration,
      },
      optional,
    ),
  },
  optional,
);
const policy = fc.record({
  apiVersion: fc.constant('plimsoll.dev/v1alpha1'),
  kind: fc.constant('NodePressurePolicy'),
  metadata: fc.record({ name: word }),
  spec: fc.tuple(hard, soft, rest).map((parts) => Object.assign({}, ...parts) as object),
});

describe('decodePolicy and encodeNodePressurePolicy', () => {
  test('an object that is read and written again is the same', () => {
    fc.assert(
      fc.property(policy, (object) => {
        const { spec } = valueOf(decodePolicy(object));
        expect(encodeNodePressurePolicy(object.metadata.name, spec)).toEqual(object);
      }),
      { seed: 28, numRuns: 300 },
    );
  });

  test('modes of hard thresholds are written as they were read', () => {
    const spec = { evictionHard: { 'pid.available': '5%' }, evictionHardMode: { 'pid.available': 'Enforce' } } as const;
    const read = valueOf(decodePolicy({ metadata: { name: 'p' }, spec }));
    expect(encodeNodePressurePolicy('p', read.spec)).toMatchObject({ spec });
  });
});
