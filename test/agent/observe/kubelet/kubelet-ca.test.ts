import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentConfiguration } from '#agent/configuration.ts';
import { type KubeletAddress, fetchKubeletSummary } from '#agent/observe/kubelet/kubelet-summary.ts';
import { kubeletAddress } from '#agent/wire-source.ts';
import { type CertificatePair, createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import { serve, type Server } from '#shared/http/serve.ts';
import { createLog } from '#shared/runtime/log.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

const log = createLog({ component: 'test', level: 'silent', format: 'json' });

function tlsOf(authority: CertificatePair) {
  const names = { dnsNames: [], ipAddresses: ['127.0.0.1'] };
  return issueServerCertificate(authority, { ...names, days: 1, now: Date.now() });
}

describe('the CA of the kubelet', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
  const caFile = join(folder, 'ca.crt');
  const [old, next] = ['old', 'next'].map((commonName) =>
    createAuthority({ commonName, days: 1, now: Date.now() }),
  ) as [CertificatePair, CertificatePair];
  let kubelet: Server;
  beforeAll(async () => {
    const handler = (_: unknown, response: { end: (text: string) => void }): void => response.end('{}');
    kubelet = await serve({ handler, host: '127.0.0.1', port: 0, tls: tlsOf(old) });
  });
  afterAll(async () => {
    await kubelet.close();
    rmSync(folder, { recursive: true });
  });

  test.each(['kubelet.caFile', 'the API server'])('is followed in the file of %s', async (source) => {
    writeFileSync(caFile, old.certPem);
    kubelet.setCertificate(tlsOf(old));
    const isOwn = source === 'kubelet.caFile';
    const configuration = agentConfiguration.parse({
      nodeName: 'node-1',
      kubelet: { url: kubelet.url, ...(isOwn && { caFile }) },
    });
    const connection = { server: 'https://127.0.0.1', ca: old.certPem, ...(!isOwn && { caFile }) };
    const clock = manualClock();
    const address = kubeletAddress(configuration, connection, { clock, log }) as KubeletAddress;
    const summary = (): Promise<unknown> => fetchKubeletSummary(address, AbortSignal.timeout(5_000));
    expect(await summary()).toEqual({});
    kubelet.setCertificate(tlsOf(next));
    writeFileSync(caFile, next.certPem);
    await clock.advance(5_000);
    expect(await summary()).toEqual({});
  });
});
