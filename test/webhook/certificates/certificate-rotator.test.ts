import { describe, expect, test } from 'vitest';
import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createCertificateRotator } from '#webhook/certificates/certificate-rotator.ts';
import type { ServingCertificate } from '#webhook/certificates/certificate-source.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

const DAY = 86_400_000;
const now = Date.UTC(2026, 0, 1);
const authority = createAuthority({ commonName: 'ca', days: 30, now });
const clientAuthority = createAuthority({ commonName: 'client ca', days: 10, now });

function serving(days: number, clientCaPem?: string): ServingCertificate {
  const { certPem, keyPem, notAfter } = issueServerCertificate(authority, {
    dnsNames: ['localhost'],
    ipAddresses: [],
    days,
    now,
  });
  const tls = { certPem, keyPem, ...(clientCaPem !== undefined && { clientCaPem }) };
  return { tls, notBefore: now, notAfter, caBundlePem: authority.certPem };
}

describe('createCertificateRotator', () => {
  function start(first: ServingCertificate) {
    const metrics = createMetrics('webhook');
    const used: ServingCertificate[] = [];
    let next = first;
    const rotator = createCertificateRotator({
      source: { load: () => Promise.resolve(next) },
      isTrusted: () => true,
      use: (certificate) => void used.push(certificate),
      first,
      clock: manualClock(),
      log: createLog({ component: 'test', level: 'silent', format: 'json' }),
      metrics,
    });
    const refresh = (found: ServingCertificate): Promise<void> => {
      next = found;
      return rotator.refresh();
    };
    const series = async (name: string) => (await metrics.text()).match(new RegExp(`^${name}.*`, 'gm'));
    return { used, refresh, series };
  }

  test('serves what has changed, the authority of callers too, and counts the certificates alone', async () => {
    const first = serving(5, clientAuthority.certPem);
    const { used, refresh, series } = start(first);
    await refresh(first);
    expect(used).toEqual([]);
    const otherCallers = { ...first, tls: { ...first.tls, clientCaPem: authority.certPem } };
    await refresh(otherCallers);
    const renewed = serving(6, authority.certPem);
    await refresh(renewed);
    expect(used).toEqual([otherCallers, renewed]);
    expect(await series('plimsoll_certificate_rotations_total')).toEqual(['plimsoll_certificate_rotations_total 1']);
  });

  test('exports when each certificate expires', async () => {
    const { refresh, series } = start(serving(5));
    await refresh(serving(6, clientAuthority.certPem));
    const ends = (purpose: string, days: number): string =>
      `plimsoll_certificate_not_after_timestamp_seconds{purpose="${purpose}"} ${(now + days * DAY) / 1_000}`;
    expect(await series('plimsoll_certificate_not_after_timestamp_seconds')).toEqual([
      ends('serving', 6),
      ends('ca', 30),
      ends('client-ca', 10),
    ]);
  });
});
