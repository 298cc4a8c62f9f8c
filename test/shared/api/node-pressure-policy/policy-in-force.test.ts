import { describe, expect, test } from 'vitest';
import {
  type NamedPolicy,
  readNamedPolicy,
  keepLastValid,
  policyInForce,
} from '#shared/api/node-pressure-policy/select-policy.ts';

function named(name: string, spec: object): NamedPolicy {
  return readNamedPolicy({ metadata: { name }, spec });
}

function inForce(
  configured: 'Policy' | 'DryRun' | 'Enforce',
  policies: readonly NamedPolicy[],
  labels?: Record<string, string>,
  arePoliciesRead = true,
) {
  const known = labels === undefined ? undefined : new Map(Object.entries(labels));
  const { name, mode } = policyInForce({
    configured,
    arePoliciesRead,
    policies,
    lastValid: keepLastValid(new Map(), policies),
    labels: known,
  });
  return `${name} ${mode}`;
}

const everywhere = named('everywhere', { mode: 'Enforce' });
const batch = named('batch', { mode: 'Enforce', order: 1, nodeSelector: { matchLabels: { pool: 'batch' } } });
const broken = named('broken', { mode: 'Sometimes' });
const brokenIn = (pool: string, order = 0): NamedPolicy =>
  named('broken', { mode: 'Sometimes', order, nodeSelector: { matchLabels: { pool } } });

describe('policyInForce', () => {
  test.each<[sentence: string, answer: string, expected: string]>([
    ['without a policy nothing is enforced', inForce('Policy', [], {}), 'default DryRun'],
    ['unless the process is set to Enforce', inForce('Enforce', [], {}), 'default Enforce'],
    [
      'the highest order that selects the node',
      inForce('Policy', [everywhere, batch], { pool: 'batch' }),
      'batch Enforce',
    ],
    ['another pool is not selected', inForce('Policy', [everywhere, batch], { pool: 'web' }), 'everywhere Enforce'],
    ['equal orders go by name', inForce('Policy', [named('b', {}), named('a', {})], {}), 'a DryRun'],
    ['a dry run of the process caps every policy', inForce('DryRun', [everywhere], {}), 'everywhere DryRun'],
    ['a policy that never could be read may be ours', inForce('Policy', [everywhere, broken], {}), 'everywhere DryRun'],
    [
      'one that never could be read is no matter to pools that it does not select',
      inForce('Policy', [batch, brokenIn('web', 9)], { pool: 'batch' }),
      'batch Enforce',
    ],
    [
      'one that selects this pool may apply to it',
      inForce('Policy', [everywhere, brokenIn('web')], { pool: 'web' }),
      'everywhere DryRun',
    ],
    [
      'unless a policy of higher order holds here anyway',
      inForce('Policy', [batch, brokenIn('batch', 0)], { pool: 'batch' }),
      'batch Enforce',
    ],
    [
      'or one of the same order comes first by name',
      inForce('Policy', [batch, brokenIn('batch', 1)], { pool: 'batch' }),
      'batch Enforce',
    ],
    [
      'whose scope cannot be read either, may be for every node',
      inForce('Policy', [batch, named('broken', { nodeSelector: 7 })], { pool: 'batch' }),
      'batch DryRun',
    ],
    ['before the policies have been read nothing is enforced', inForce('Enforce', [], {}, false), 'default DryRun'],
    [
      'labels that are not known yet may select another one',
      inForce('Policy', [everywhere], undefined),
      'everywhere DryRun',
    ],
  ])('%s', (_sentence, answer, expected) => {
    expect(answer).toBe(expected);
  });
});

describe('keepLastValid', () => {
  test('keeps the last form of an unreadable policy, and drops a deleted one', () => {
    const first = keepLastValid(new Map(), [batch]);
    const second = keepLastValid(first, [named('batch', { mode: 'Sometimes' })]);
    expect(second).toEqual(first);
    expect(keepLastValid(second, [])).toEqual(new Map());
  });
});

describe('a policy that became unreadable', () => {
  const last = keepLastValid(new Map(), [everywhere, batch]);
  const changed = named('batch', { mode: 'Sometimes', order: 1, nodeSelector: { matchLabels: { pool: 'batch' } } });

  function inForceOn(pool: string): string {
    const policies = [everywhere, changed];
    const { name, mode } = policyInForce({
      configured: 'Policy',
      arePoliciesRead: true,
      policies,
      lastValid: keepLastValid(last, policies),
      labels: new Map([['pool', pool]]),
    });
    return `${name} ${mode}`;
  }

  test('enforces nothing on its nodes, with its last settings', () => expect(inForceOn('batch')).toBe('batch DryRun'));

  test('is no matter to other nodes', () => expect(inForceOn('web')).toBe('everywhere Enforce'));
});
