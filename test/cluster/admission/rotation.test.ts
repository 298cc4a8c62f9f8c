import { describe, expect, test } from 'vitest';
import { createAuthority } from '#shared/http/certificates.ts';
import { clusterTarget, hasCluster } from '#test/cluster/cluster-target.ts';
import { at, contractHarness, eventually, uniqueName } from '#test/contract/harness.ts';
import { answersWhile, expectAllAsked } from './answers-under-load.ts';
import { AUTHORITY_SECRET, registeredWebhooks } from './registered-webhooks.ts';
import { servedCertificate } from './served-certificate.ts';

const SETTINGS = { drainSeconds: 3, tls: { overlapSeconds: 0 } };
/** Some 2000 come on two cores, also with ten busy processes beside. */
const LEAST_ANSWERS = 500;
/** A webhook looks at its certificate every 20 s, twice for a new authority: to announce it and to sign with it. */
const ROTATED_MS = 120_000;

/** Every entry fails closed here, so one failed handshake is one pod that gets another answer than the webhook's. */
describe.skipIf(!hasCluster())('certificates that change while pods are created', () => {
  const api = contractHarness(clusterTarget());
  const webhooks = registeredWebhooks(api, { replicas: 2, failurePolicy: 'Fail', settings: SETTINGS });
  const secret = api.core(`secrets/${AUTHORITY_SECRET}`);

  async function signing(): Promise<string> {
    const data = at((await api.get(secret)).body, 'data') as Readonly<Record<string, string>>;
    return Buffer.from(data['ca.crt'] ?? '', 'base64').toString();
  }

  /** What an administrator does who wants a new authority now: it is announced, and signs once it is trusted. */
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
