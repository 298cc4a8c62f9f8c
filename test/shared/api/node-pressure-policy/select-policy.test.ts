import { describe, expect, test } from 'vitest';
import {
  PROTECTION_WITHOUT_POLICY,
  protectionByPolicy,
  type NamedPolicy,
  readNamedPolicy,
  selectPolicy,
} from '#shared/api/node-pressure-policy/select-policy.ts';
import { DEFAULT_OPT_OUT_CEILING } from '#shared/domain/eviction/protection.ts';

function policy(name: string, spec: object): NamedPolicy {
  return readNamedPolicy({ metadata: { name }, spec });
}

function protectionOnNode(policies: readonly NamedPolicy[], labels: ReadonlyMap<string, string>) {
  const selection = selectPolicy(policies, labels);
  if (selection.kind === 'none') return PROTECTION_WITHOUT_POLICY;
  return selection.kind === 'selected' ? protectionByPolicy(selection.policy.policy) : selection;
}

const EVERYWHERE = policy('everywhere', { protect: { optOutCeiling: 50, namespaces: ['db'] } });
const BATCH = policy('batch', { order: 5, nodeSelector: { matchLabels: { pool: 'batch' } }, protect: {} });
const BATCH_TOO = policy('a-batch', {
  order: 5,
  nodeSelector: { matchLabels: { pool: 'batch' } },
  protect: { optOutCeiling: -1 },
});
const ON_BATCH = new Map([['pool', 'batch']]);

describe('selectPolicy', () => {
  test.each([
    ['the usual without a policy', [], ON_BATCH, { namespaces: [], optOutCeiling: DEFAULT_OPT_OUT_CEILING }],
    ['what a policy for every node says', [EVERYWHERE], ON_BATCH, { namespaces: ['db'], optOutCeiling: 50 }],
    [
      'what the policy of higher order says, as a whole',
      [EVERYWHERE, BATCH],
      ON_BATCH,
      { namespaces: [], optOutCeiling: DEFAULT_OPT_OUT_CEILING },
    ],
    [
      'the same whatever comes first',
      [BATCH, EVERYWHERE],
      ON_BATCH,
      { namespaces: [], optOutCeiling: DEFAULT_OPT_OUT_CEILING },
    ],
    ['of equal order the first by name', [BATCH, BATCH_TOO], ON_BATCH, { namespaces: [], optOutCeiling: -1 }],
    ['the first by name whatever comes first', [BATCH_TOO, BATCH], ON_BATCH, { namespaces: [], optOutCeiling: -1 }],
    [
      'nothing of a policy for other nodes',
      [BATCH_TOO],
      new Map(),
      { namespaces: [], optOutCeiling: DEFAULT_OPT_OUT_CEILING },
    ],
  ])('is %s', (_, policies, labels, protection) => {
    expect(protectionOnNode(policies, labels)).toMatchObject(protection);
  });

  const OPT_OUT = { optOutCeiling: 'high' };
  const UNREADABLE = { kind: 'unreadable', name: 'broken', field: 'spec.protect.optOutCeiling' };

  test.each<[string, readonly NamedPolicy[], object]>([
    ['may be for this node', [policy('broken', { order: 9, protect: OPT_OUT }), BATCH], UNREADABLE],
    [
      'is for other nodes',
      [policy('broken', { nodeSelector: { matchLabels: { pool: 'web' } }, order: 9, protect: OPT_OUT }), BATCH],
      { policy: { name: 'batch' } },
    ],
    ['comes after a readable one', [BATCH, policy('broken', { protect: OPT_OUT })], { policy: { name: 'batch' } }],
    ['is the first of its order by name', [policy('a', { mode: 'Sometimes' }), EVERYWHERE], { name: 'a' }],
  ])('a policy that cannot be read and %s', (_, policies, expected) => {
    expect(protectionOnNode(policies, ON_BATCH)).toMatchObject(expected);
  });

  test('one whose scope cannot be read may be for every node', () => {
    const selection = selectPolicy([BATCH, policy('broken', { nodeSelector: 7 })], ON_BATCH);
    expect(selection).toMatchObject({ kind: 'unreadable', name: 'broken', field: 'spec.nodeSelector' });
  });
});
