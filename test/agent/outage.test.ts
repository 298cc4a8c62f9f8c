import { CONDITIONS } from '#agent/messages.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '#test/build/waiting.ts';
import { agentRig } from './agent-rig.ts';
import { passesOf } from './passes-of.ts';
import { wirePod, wireSummary } from './wire-node.ts';

const WITHIN = 45_000;
const PODS = '/api/v1/pods';
const POLICIES = '/apis/plimsoll.dev/v1alpha1/nodepressurepolicies';
/** Longer than the agent trusts what it watched. */
const OUTAGE_MS = 130_000;
/** The gate opens within a second; the rest is for a pass, the preflight and a busy machine. */
const AT_ONCE_MS = 4_000;

const rig = agentRig();
const { start, evictions, status, condition } = rig;

async function aFewPasses(url: string): Promise<void> {
  const before = await passesOf(url);
  await eventually(async () => expect(await passesOf(url)).toBeGreaterThan(before + 20), WITHIN);
}

describe('after an outage of the API server', { timeout: 120_000 }, () => {
  beforeEach(() => {
    rig.summary = () => wireSummary(700, 1000, { hog: 250 });
    rig.api.put(PODS, wirePod({ name: 'hog', requestMiB: 100 }));
  });

  test('the agent evicts as soon as the server answers anything, without waiting for a bookmark', async () => {
    const url = await start();
    await eventually(() => expect(status()).toMatchObject({ mode: 'Enforce' }), WITHIN);
    rig.api.silent = /./;
    rig.api.cutWatches(PODS);
    // What is under way is answered before the silence begins.
    await aFewPasses(url);
    rig.skippedMs = OUTAGE_MS;
    rig.summary = () => wireSummary(50, 1000, { hog: 900 });
    await aFewPasses(url);
    expect(evictions()).toEqual([]);
    const endedAt = performance.now();
    rig.api.silent = undefined;
    await eventually(() => expect(evictions()).toHaveLength(1), WITHIN);
    expect((evictions()[0]?.atMs ?? Infinity) - endedAt).toBeLessThan(AT_ONCE_MS);
  });

  test('policies that can no longer be read are not called read, and stay in force', async () => {
    rig.api.put(POLICIES, { metadata: { name: 'batch', generation: 1 }, spec: { mode: 'Enforce' } });
    await start({ mode: 'Policy' });
    const read = { status: 'True', message: CONDITIONS.policiesRead(1) };
    await eventually(() => expect(condition('PoliciesRead')).toMatchObject(read), WITHIN);
    rig.api.refuse(POLICIES);
    rig.skippedMs = OUTAGE_MS;
    const outdated = { status: 'Unknown', reason: 'PoliciesOutdated' };
    await eventually(() => expect(condition('PoliciesRead')).toMatchObject(outdated), WITHIN);
    expect(status()).toMatchObject({ policy: 'batch', mode: 'Enforce' });
  });

  test('a quiet watch is no outage while other requests are answered', async () => {
    const url = await start();
    await eventually(() => expect(status()).toMatchObject({ mode: 'Enforce' }), WITHIN);
    rig.skippedMs = OUTAGE_MS;
    rig.summary = () => wireSummary(50, 1000, { hog: 900 });
    await aFewPasses(url);
    await eventually(() => expect(evictions()).toHaveLength(1), WITHIN);
  });
});
