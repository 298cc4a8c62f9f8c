import { describe, expect, inject, test } from 'vitest';
import { contractHarness } from '#test/contract/harness.ts';
import { registeredWebhooks } from './admission/support/registered-webhooks.ts';
import { clusterTarget, hasCluster } from './support/control-plane/cluster-target.ts';
import { findUpstreamSuite, runUpstreamSuite } from './support/control-plane/upstream-suite.ts';

const SPECIFICATIONS = 7;
/** Building the suite is part of it where it is not built yet. */
const WITHIN_MS = 900_000;

describe.skipIf(!hasCluster())('the upstream suite, with Plimsoll installed for the whole cluster', () => {
  registeredWebhooks(contractHarness(clusterTarget()), { replicas: 2 });

  test('quotas by priority class work as they do without us', { timeout: WITHIN_MS }, async ({ skip }) => {
    const suite = findUpstreamSuite(process.env);
    if (suite.kind === 'missing' && process.env['CI'] === undefined) return skip(suite.because);
    expect(suite).toMatchObject({ kind: 'found' });
    if (suite.kind === 'missing') return;
    const results = await runUpstreamSuite(suite.paths.e2e, {
      kubeconfig: inject('kubeconfig'),
      focus: 'ResourceQuota \\[Feature:PodPriority\\]',
      folder: inject('runFolder'),
    });
    expect(results.filter(({ state }) => state !== 'passed')).toEqual([]);
    expect(results).toHaveLength(SPECIFICATIONS);
  });
});
