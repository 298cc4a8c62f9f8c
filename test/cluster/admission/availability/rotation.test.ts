import { describe, expect, test } from 'vitest';
import { createAuthority } from '#shared/http/certificates.ts';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { at, contractHarness, uniqueName } from '#test/contract/harness.ts';
import { answersWhile, expectAllAsked } from './answers-under-load.ts';
import { AUTHORITY_SECRET, registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { servedCertificate } from './served-certificate.ts';
import { eventually } from '#test/build/waiting.ts';

const SETTINGS = { drainSeconds: 3, tls: { overlapSeconds: 0 } };
/** About 2000 are made on two cores, even with ten busy processes. */
const LEAST_ANSWERS = 500;
/**
 * A webhook refreshes its certificate every 20 s; a new CA takes two refreshes: one announces it, one signs with it.
 */
const ROTATED_MS = 120_000;

/** Every entry fails closed here, so each failed handshake gives one pod an answer that is not the webhook's. */
describe.skipIf(!hasCluster())('certificates that change while pods are created', () => {
  const api = contractHarness(clusterTarget());
  const webhooks = registeredWebhooks(api, { replicas: 2, failurePolicy: 'Fail', settings: SETTINGS });
  const secret = api.core(`secrets/${AUTHORITY_SECRET}`);

  async function signing(): Promise<string> {
    const data = at((await api.get(secret)).body, 'data') as Readonly<Record<string, string>>;
    return Buffer.from(data['ca.crt'] ?? '', 'base64').toString();
  }

  /** What an administrator does to get a new CA now: it is announced, and signs once it is trusted. */
  async function announceAuthority(): Promise<string> {
    const next = createAuthority({ commonName: uniqueName('next'), days: 1, now: Date.now() });
    const stringData = { 'next.crt': next.certPem, 'next.key': next.keyPem };
    expect((await api.patch(secret, { stringData }, 'merge')).status).toBe(200);
    return next.certPem;
  }

  test('lose no answer, whether the leaf certificate or the CA changes', { timeout: 2 * ROTATED_MS }, async () => {
    const leaves = new Set<string>();
    const answers = await answersWhile(api, async () => {
      const next = await announceAuthority();
      await eventually(async () => {
        // Each new process has a leaf of its own.
        await webhooks.replace();
        for (const { port } of webhooks.processes) leaves.add(await servedCertificate(port));
        expect(await signing()).toBe(next);
      }, ROTATED_MS);
    });
    expectAllAsked(answers, LEAST_ANSWERS);
    expect(leaves.size).toBeGreaterThan(2);
  });
});
