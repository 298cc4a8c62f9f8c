import { describe, expect, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { contractHarness } from '#test/contract/harness.ts';
import { answersWhile, expectAllAsked } from './answers-under-load.ts';
import { certificateFiles } from './certificate-files.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { servedCertificate } from './served-certificate.ts';
import { eventually } from '#test/build/waiting.ts';

const LEAST_ANSWERS = 100;
/** A webhook reloads its files every 20 s. */
const SERVED_MS = 40_000;

/** Every entry fails closed here, so each failed handshake gives one pod an answer that is not the webhook's. */
describe.skipIf(!hasCluster())('a certificate that cert-manager makes', () => {
  const api = contractHarness(clusterTarget());
  const files = certificateFiles(api);
  const tls = { mode: 'cert-manager', certFile: files.certFile, keyFile: files.keyFile } as const;
  const settings = { tls, registration: { mode: 'None' } } as const;
  const { processes } = registeredWebhooks(api, { failurePolicy: 'Fail', settings });

  async function served(): Promise<readonly string[]> {
    return Promise.all(processes.map(({ port }) => servedCertificate(port)));
  }

  test('is renewed without an answer lost', { timeout: 2 * SERVED_MS }, async () => {
    const before = await served();
    const answers = await answersWhile(api, async () => {
      files.renew();
      await eventually(async () => expect(await served()).not.toEqual(before), SERVED_MS);
    });
    expectAllAsked(answers, LEAST_ANSWERS);
  });
});
