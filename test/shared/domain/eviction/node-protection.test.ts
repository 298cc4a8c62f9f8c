import { describe, expect, test } from 'vitest';
import { DEFAULT_OPT_OUT_CEILING, protectionOnNode } from '#shared/domain/eviction/node-protection.ts';
import { decodeNodeProtection } from '#shared/kube/decode/decode-node-protection.ts';

function policy(name: string, spec: object) {
  const decoded = decodeNodeProtection({ metadata: { name }, spec });
  if (!decoded.ok) throw new Error(decoded.message);
  return decoded.value;
}

const EVERYWHERE = policy('everywhere', { protect: { optOutCeiling: 50, namespaces: ['db'] } });
const BATCH = policy('batch', { order: 5, nodeSelector: { matchLabels: { pool: 'batch' } }, protect: {} });
const BATCH_TOO = policy('a-batch', {
  order: 5,
  nodeSelector: { matchLabels: { pool: 'batch' } },
  protect: { optOutCeiling: -1 },
});
const ON_BATCH = new Map([['pool', 'batch']]);

describe('protectionOnNode', () => {
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

  test('a policy that cannot be read says where', () => {
    expect(decodeNodeProtection({ spec: { protect: { optOutCeiling: 'high' } } })).toMatchObject({
      ok: false,
      field: 'spec.protect.optOutCeiling',
    });
  });
});
