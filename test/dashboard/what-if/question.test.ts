import { describe, expect, test } from 'vitest';
import { podAsked, pressureAsked, type Query } from '#dashboard/what-if/question.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';

const LONG = 'x'.repeat(300);

describe('what is asked', () => {
  test('only the node is needed; the signal is memory, and what is left and the threshold are those of the node', () => {
    expect(pressureAsked({ node: 'node-1' })).toEqual({
      ok: true,
      value: { node: 'node-1', signal: 'memory.available', available: undefined, threshold: undefined },
    });
    expect(podAsked({ node: 'node-1', cpu: '', memory: ' 1Gi ' })).toEqual({
      ok: true,
      value: { node: 'node-1', requests: { memory: '1Gi' }, priorityClass: '' },
    });
  });

  test('a threshold is read as a policy writes it', () => {
    const asked = pressureAsked({
      node: 'n',
      signal: 'pid.available',
      available: '1k',
      kind: 'soft',
      threshold: '10%',
    });
    if (!asked.ok) throw new Error(asked.message);
    const { available, threshold } = asked.value;
    expect(available && quantityNumber(available)).toBe(1_000);
    expect(threshold).toMatchObject({ signal: 'pid.available', gracePeriodSeconds: 30, value: { kind: 'share' } });
  });

  const REFUSED: Readonly<Record<string, readonly [Query, string, RegExp]>> = {
    'no node': [{}, 'node', /expected the name of a node, got ""/],
    'a node with a selector in it': [{ node: 'a,spec.nodeName!=b' }, 'node', /expected the name of a node/],
    'a node of 300 letters': [{ node: LONG }, 'node', /at most 253 characters, got 300/],
    'two nodes': [{ node: ['a', 'b'] }, 'node', /expected one value/],
    'a parameter that nobody reads': [{ node: 'n', treshold: '1Gi' }, 'treshold', /unknown parameter; there are node/],
    'another signal': [{ node: 'n', signal: 'cpu' }, 'signal', /expected memory.available, .*got "cpu"/],
    'an amount that is none': [{ node: 'n', available: 'lots' }, 'available', /a quantity such as 1Gi, got "lots"/],
    'a negative amount': [{ node: 'n', available: '-1Gi' }, 'available', /a quantity such as 1Gi/],
    'another kind': [{ node: 'n', kind: 'firm' }, 'kind', /expected hard, soft, got "firm"/],
    'a share above the whole': [{ node: 'n', threshold: '110%' }, 'threshold', /must be <= 100%/],
    'a threshold that switches itself off': [{ node: 'n', threshold: '0%' }, 'threshold', /between 0% and 100%/],
    'a threshold that is none': [{ node: 'n', threshold: 'high' }, 'threshold', /quantities must match/],
    'a name from the prototype': [{ node: 'n', constructor: 'x' }, 'constructor', /unknown/],
  };
  test.each(Object.entries(REFUSED))('%s is refused with its field', (_, [query, field, message]) => {
    expect(pressureAsked(query)).toEqual({ ok: false, field, message: expect.stringMatching(message) as string });
  });

  test.each([
    [{ node: 'n', cpu: '1x' }, 'cpu', /a quantity such as 500m, got "1x"/],
    [{ node: 'n', memory: '-1' }, 'memory', /a quantity such as 1Gi/],
    [{ node: 'n', priorityClass: LONG }, 'priorityClass', /at most 253 characters/],
    [{ node: 'n', priority: '1' }, 'priority', /unknown parameter/],
  ])('of a pod %j is refused with its field', (query, field, message) => {
    expect(podAsked(query)).toEqual({ ok: false, field, message: expect.stringMatching(message) as string });
  });
});
