import { once } from 'node:events';
import { connect } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { createAuthority } from '#shared/http/certificates.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { clusterTarget, hasCluster } from '#test/cluster/cluster-target.ts';
import { at, contractHarness, eventually, uniqueName } from '#test/contract/harness.ts';
import { AUTHORITY_SECRET, registeredWebhooks, slowPod, wasAsked } from './registered-webhooks.ts';

const CLIENTS = 4;
const SETTINGS = { drainSeconds: 3, tls: { overlapSeconds: 0 } };
const PAUSE_MS = 20;
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

  test('cost no pod its answer, whether the leaf changes or the authority', { timeout: 2 * ROTATED_MS }, async () => {
    const done = new AbortController();
    const answers = new Map<string, number>();
    const load = Array.from({ length: CLIENTS }, async () => {
      while (!done.signal.aborted) {
        const given = await api.post(api.core('pods'), slowPod('slow'), { query: { dryRun: 'All' } });
        const answer = `${given.status} ${wasAsked(given) ? 'after asking' : String(at(given.body, 'message'))}`;
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
        await systemClock.sleep(PAUSE_MS);
      }
    });
    const next = await announceAuthority();
    const leaves = new Set<string>();
    await eventually(async () => {
      // Each new process has a leaf of its own.
      await webhooks.replace();
      for (const { port } of webhooks.processes) leaves.add(await leafOf(port));
      expect(await signing()).toBe(next);
    }, ROTATED_MS);
    done.abort();
    await Promise.all(load);
    // A time-out or an internal error is what a failed handshake looks like from here: none is excused.
    expect([...answers.keys()]).toEqual(['201 after asking']);
    expect([...answers.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(LEAST_ANSWERS);
    expect(leaves.size).toBeGreaterThan(2);
  });
});

/** The certificate that is served on a port of this machine. */
async function leafOf(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}
