import { describe, expect, test } from 'vitest';
import { readSetting, specOf } from '#cli/mode/set-switches.ts';
import { SWITCHES } from '#cli/mode/show-switches.ts';
import { ROOT_QUEUE } from '#shared/domain/queue/queue.ts';
import { QUEUES } from '#shared/kube/resource.ts';

const read = (object: string, ...settings: readonly string[]) => {
  const { resource, name, values } = readSetting(object, settings);
  return [resource.kind, name, specOf(values)];
};

describe('plimsoll mode set', () => {
  test.each([
    ['nodepressurepolicy/batch', ['mode=Enforce'], ['NodePressurePolicy', 'batch', { mode: 'Enforce' }]],
    [
      'nodepressurepolicies.plimsoll.dev/batch',
      ['spec.avoidance.mode=Enforce', 'taints.mode=Disabled'],
      ['NodePressurePolicy', 'batch', { avoidance: { mode: 'Enforce' }, taints: { mode: 'Disabled' } }],
    ],
    [
      'Queue/root',
      ['reclaim.mode=Enforce', 'reclaim.by=Shares'],
      ['Queue', 'root', { reclaim: { mode: 'Enforce', by: 'Shares' } }],
    ],
    [
      'disruptionpolicy/plimsoll',
      ['retention.period=720h', 'retention.total=5000'],
      ['DisruptionPolicy', 'plimsoll', { retention: { period: '720h', total: 5_000 } }],
    ],
  ])('%s %j', (object, settings, expected) => {
    expect(read(object, ...settings)).toEqual(expected);
  });

  test.each([
    ['queue/batch', ['reclaim.mode=Enforce'], 'object "queue/batch" has no switches; use one of'],
    ['pod/web', ['mode=Enforce'], 'queue/root, reschedulingpolicy/NAME'],
    ['nodepressurepolicy', ['mode=Enforce'], 'nodepressurepolicy/NAME'],
    [
      'queue/root',
      ['reclaim.weight=3'],
      'field "reclaim.weight" is not a switch of this object; use one of reclaim.mode',
    ],
    ['queue/root', ['toString=3'], 'field "toString" is not a switch'],
    ['queue/root', ['reclaim.mode'], 'setting "reclaim.mode" is not FIELD=VALUE, such as mode=Enforce'],
    ['queue/root', ['reclaim.mode='], 'is not FIELD=VALUE'],
  ])('%s %j is refused with what is accepted', (object, settings, message) => {
    expect(() => readSetting(object, settings)).toThrow(message);
  });

  test('every switch that is shown can be set', () => {
    for (const [resource, fields] of SWITCHES) {
      const object = `${resource.plural}/${resource === QUEUES ? ROOT_QUEUE : 'a'}`;
      const settings = Object.entries(fields).map(([field, value]) => `spec.${field}=${value}`);
      expect([...readSetting(object, settings).values.keys()]).toEqual(Object.keys(fields));
    }
  });
});
