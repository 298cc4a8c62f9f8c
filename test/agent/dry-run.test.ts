import { beforeEach, describe, expect, test } from 'vitest';
import { EVENTS } from '#agent/messages.ts';
import { eventually } from '#test/build/waiting.ts';
import { agentRig } from './agent-rig.ts';
import { wirePod, wireSummary } from './wire-node.ts';

/** For a condition on a busy machine; a quiet one meets it within two seconds. */
const WITHIN = 45_000;
const PODS = '/api/v1/pods';
const BUDGETS = '/apis/policy/v1/poddisruptionbudgets';

const rig = agentRig(5);
const { start, evictions, dryRuns, events, status } = rig;

describe('the agent in a dry run', { timeout: 90_000 }, () => {
  beforeEach(() => {
    rig.summary = () => wireSummary(100, 1000, { hog: 600, quiet: 250 });
    rig.api.put(PODS, wirePod({ name: 'hog', requestMiB: 100 }));
    rig.api.put(PODS, wirePod({ name: 'quiet', requestMiB: 300, priority: 1000 }));
  });

  test('asks the API server with dryRun=All, reports the same and evicts no pod', async () => {
    await start({ mode: 'DryRun' });
    await eventually(() => expect(status()).toMatchObject({ evictions: [{ outcome: 'pretended (dry run)' }] }), WITHIN);
    expect(evictions()).toEqual([]);
    expect(dryRuns()).toMatchObject([{ path: '/api/v1/namespaces/default/pods/hog/eviction' }]);
    expect(dryRuns()[0]?.body).toMatchObject({
      deleteOptions: { preconditions: { uid: 'uid-hog' }, gracePeriodSeconds: 1 },
    });
    expect(events()).toMatchObject([
      { note: EVENTS.dryRun(EVENTS.thresholdMet('memory')) },
      {
        reason: 'EvictionDryRun',
        type: 'Normal',
        note: expect.stringMatching(/^The node was low on resource: memory\. .* \(dry run\)$/) as string,
      },
    ]);
  });

  test('reports that a PodDisruptionBudget would refuse the eviction', async () => {
    rig.api.put(BUDGETS, {
      metadata: { name: 'all', namespace: 'default' },
      spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'hog' } } },
      status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
    });
    const hog = wirePod({ name: 'hog', requestMiB: 100 });
    const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    rig.api.put(PODS, { ...hog, metadata: { ...hog.metadata, labels: { app: 'hog' } }, status: ready });
    await start({ mode: 'DryRun' });
    await eventually(
      () =>
        expect(status()['evictions']).toContainEqual(
          expect.objectContaining({ pod: 'default/hog', outcome: 'tooManyRequests (dry run)' }),
        ),
      WITHIN,
    );
    expect(evictions()).toEqual([]);
    const aboutHog = events().filter(
      ({ regarding }) => (regarding as { readonly name?: string } | undefined)?.name === 'hog',
    );
    expect(aboutHog).toMatchObject([
      {
        reason: 'EvictionDryRun',
        type: 'Normal',
        note: expect.stringMatching(/^Cannot evict: .* budget.* \(dry run\)$/) as string,
      },
    ]);
  });
});
