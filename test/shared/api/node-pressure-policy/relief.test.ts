import { expect, test } from 'vitest';
import { decodePolicy } from '#shared/api/node-pressure-policy/decode-policy.ts';

const decode = (spec: object) => decodePolicy({ metadata: { name: 'p' }, spec });

test.each([[['ThrottleCPU']], [['Evict', 'ThrottleCPU']], [['Evict', 'Evict']], [[]]])(
  'relief %j is refused: eviction is the last step',
  (relief) => {
    const message = `expected [Evict] or [ThrottleCPU, Evict], got [${relief.join(', ')}]`;
    expect(decode({ relief })).toEqual({ ok: false, field: 'spec.relief', message });
  },
);

const THROTTLES = ['ThrottleCPU', 'Evict'];

test.each<[object, boolean, number]>([
  [{}, false, 0],
  [{ relief: ['Evict'] }, false, 0],
  [{ relief: THROTTLES }, true, 120_000],
  [{ relief: THROTTLES, cpu: { gracePeriod: '5m' } }, true, 300_000],
])('with %j limits are lowered first: %j, and pods are evicted for CPU after %d ms', (spec, throttlesCpu, graceMs) => {
  const pressure = [{ signal: 'cpu.pressure', avg10: '50%', avg60: '40%' }];
  const policy = { throttlesCpu, stallRules: [{ gracePeriodMs: graceMs }] };
  expect(decode({ pressure, ...spec })).toMatchObject({ ok: true, value: { policy } });
});
