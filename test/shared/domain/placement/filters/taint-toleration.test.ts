import { describe, expect, test } from 'vitest';
import type { Taint } from '#shared/domain/snapshot/node-entry.ts';
import type { Toleration } from '#shared/domain/pod/pod.ts';
import { refusal, refused } from './refusal-on-node.ts';

describe('TaintToleration', () => {
  const taint = (effect: string): Taint => ({ key: 'dedicated', value: 'a', effect });
  const toleration = (fields: Partial<Toleration>): Toleration => ({
    key: 'dedicated',
    operator: 'Equal',
    value: 'a',
    effect: 'NoSchedule',
    ...fields,
  });

  test.each<[string, string, readonly Toleration[], boolean]>([
    ['nothing tolerates it', 'NoSchedule', [], false],
    ['NoExecute keeps pods away too', 'NoExecute', [], false],
    ['PreferNoSchedule does not', 'PreferNoSchedule', [], true],
    ['the same key, value and effect', 'NoSchedule', [toleration({})], true],
    ['no operator means Equal', 'NoSchedule', [toleration({ operator: '' })], true],
    ['another value', 'NoSchedule', [toleration({ value: 'b' })], false],
    ['another key', 'NoSchedule', [toleration({ key: 'spot' })], false],
    ['another effect', 'NoSchedule', [toleration({ effect: 'NoExecute' })], false],
    ['no effect means every effect', 'NoExecute', [toleration({ effect: '' })], true],
    ['Exists minds no value', 'NoSchedule', [toleration({ operator: 'Exists', value: '' })], true],
    ['comparison operators are off', 'NoSchedule', [toleration({ operator: 'Gt' })], false],
    ['one of several is enough', 'NoSchedule', [toleration({ value: 'b' }), toleration({})], true],
  ])('%s', (_, effect, tolerations, fits) => {
    const found = refusal({ scheduling: { tolerations } }, { nodes: [{ name: 'n0', taints: [taint(effect)] }] });
    const expected = refused('TaintToleration', false, 'node(s) had untolerated taint(s)');
    expect(found).toEqual(fits ? undefined : expected);
  });
});
