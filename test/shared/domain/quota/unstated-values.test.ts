import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareQuantities, ZERO } from '#shared/domain/quantity/quantity.ts';
import { chargeToPriorityQuota, costTo, growthTo, missingFor } from '#shared/domain/quota/charge.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { valueOf } from '#test/build/value-of.ts';
import { printAmounts } from '#test/conformance/print-amounts.ts';
import { quota } from './view/view-builders.ts';

const MEMORY = { requests: { memory: '1Gi' } };

function podOf(spec: object) {
  return valueOf(decodePod({ metadata: { name: 'p', namespace: 'a', uid: 'u' }, spec }));
}

function container(name: string, resources?: object): object {
  return { name, ...(resources !== undefined && { resources }) };
}

describe('what a container does not state', () => {
  const both = { containers: [container('b'), container('a', MEMORY)], initContainers: [container('init')] };
  const hard = { 'requests.memory': '8Gi', pods: '9' };

  test.each<[string, object, object, string | undefined]>([
    ['is missing for each that is limited', both, hard, 'requests.memory for: b,init'],
    [
      'is missing by every name',
      both,
      { memory: '1', 'limits.cpu': '1' },
      'limits.cpu for: a,b,init; memory for: b,init',
    ],
    ['is not missing where only pods are limited', both, { pods: '9', 'count/pods': '9' }, undefined],
    [
      'is not missing of other resources',
      both,
      { 'requests.example.com/gpu': '1', 'requests.ephemeral-storage': '1' },
      undefined,
    ],
    ['is stated by the pod as a whole', { ...both, resources: MEMORY }, hard, undefined],
    [
      'is not stated by another value of the pod',
      { ...both, resources: { requests: { cpu: '1m' } } },
      hard,
      'requests.memory for: b,init',
    ],
    [
      'is stated by zero, as for a ResourceQuota',
      { containers: [container('a', { requests: { memory: '0' } })] },
      hard,
      undefined,
    ],
  ])('%s', (_, spec, limited, missing) => {
    expect(missingFor(quota({ hard: amountsOf(limited as Record<string, string>) }), podOf(spec))).toBe(missing);
  });

  test('is charged with the default of the quota, and then not missing', () => {
    const defaulting = quota({ hard: amountsOf(hard), defaultRequest: amountsOf({ 'requests.memory': '256Mi' }) });
    expect(missingFor(defaulting, podOf(both))).toBeUndefined();
    const cost = costTo(defaulting, chargeToPriorityQuota(podOf(both)));
    expect(printAmounts(cost)).toEqual({ 'requests.memory': '1536Mi', pods: '1' });
  });

  test('is charged for the difference alone when a resize states it', () => {
    const defaulting = quota({ hard: amountsOf(hard), defaultRequest: amountsOf({ 'requests.memory': '256Mi' }) });
    const [before, after] = [undefined, MEMORY].map((resources) =>
      chargeToPriorityQuota(podOf({ containers: [container('a', resources)] })),
    );
    if (before === undefined || after === undefined) throw new Error('two charges');
    expect(printAmounts(growthTo(defaulting, after, before))).toEqual({ 'requests.memory': '768Mi' });
    expect(printAmounts(growthTo(defaulting, before, after))).toEqual({});
  });
});

test('a default never costs less than what the pod would request with it (seed 20261124)', () => {
  const stated = fc.option(fc.constantFrom('64Mi', '1Gi'), { nil: undefined });
  const DEFAULT = '256Mi';
  const build = (all: readonly (string | undefined)[], init: readonly (string | undefined)[], missing?: string) => {
    const list = (memory: readonly (string | undefined)[], prefix: string) =>
      memory.map((own, index) => {
        const value = own ?? missing;
        return container(`${prefix}${index}`, value === undefined ? undefined : { requests: { memory: value } });
      });
    return podOf({ containers: list(all, 'c'), initContainers: list(init, 'i') });
  };
  const priced = quota({
    hard: amountsOf({ 'requests.memory': '8Gi' }),
    defaultRequest: amountsOf({ 'requests.memory': DEFAULT }),
  });
  fc.assert(
    fc.property(fc.array(stated, { minLength: 1, maxLength: 4 }), fc.array(stated, { maxLength: 3 }), (all, init) => {
      const charged = costTo(priced, chargeToPriorityQuota(build(all, init))).get('requests.memory') ?? ZERO;
      const asked = chargeToPriorityQuota(build(all, init, DEFAULT)).get('requests.memory') ?? ZERO;
      expect(compareQuantities(charged, asked)).toBeGreaterThanOrEqual(0);
    }),
    { seed: 20_261_124 },
  );
});
