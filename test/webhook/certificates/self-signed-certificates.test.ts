import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { memoryAuthorityStore, type AuthorityStore } from '#webhook/certificates/authority-store.ts';
import { selfSignedCertificates } from '#webhook/certificates/certificate-source.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

const DAY = 86_400_000;
const trusted = () => true;

const DAYS = { authorityDays: 30, leafDays: 6, overlapSeconds: 60 };

function start(store: AuthorityStore = memoryAuthorityStore(), clock = manualClock(), isRegistered = true) {
  const names = { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
  return {
    clock,
    source: selfSignedCertificates({ store, clock, ...names, ...DAYS, isRegistered }),
  };
}

function isSignedBy(certPem: string, bundle: string | undefined): boolean {
  const certificate = new X509Certificate(certPem);
  const authorities = bundle?.match(/-----BEGIN[^]+?-----END CERTIFICATE-----/g) ?? [];
  return authorities.some((pem) => certificate.verify(new X509Certificate(pem).publicKey));
}

describe('selfSignedCertificates', () => {
  test('serves the same certificate until two thirds of its life are over', async () => {
    const { source, clock } = start();
    const first = await source.load(trusted);
    await clock.advance(4 * DAY - 1);
    expect((await source.load(trusted)).tls).toEqual(first.tls);
    await clock.advance(1);
    const second = await source.load(trusted);
    expect(second.tls).not.toEqual(first.tls);
    expect(second.caBundlePem).toBe(first.caBundlePem);
  });

  test('on every load of many rotations, serves what the previous bundle already trusted', async () => {
    const { source, clock } = start();
    let bundle = (await source.load(trusted)).caBundlePem;
    const served = new Set<string>();
    const bundles = new Set<string>();
    for (let hours = 0; hours < 24 * 120; hours += 1) {
      await clock.advance(DAY / 24);
      const { tls, caBundlePem } = await source.load((pem) => pem === bundle);
      expect(isSignedBy(tls.certPem, bundle)).toBe(true);
      expect(new X509Certificate(tls.certPem).validToDate.getTime()).toBeGreaterThan(clock.now());
      served.add(tls.certPem);
      bundle = caBundlePem;
      bundles.add(bundle ?? '');
    }
    // 120 days: a leaf every 4 days, an authority about every 20, each in two steps.
    expect({ leaves: served.size >= 30, bundles: bundles.size >= 10 }).toEqual({ leaves: true, bundles: true });
  });

  test('does not sign with a CA that clients do not trust yet', async () => {
    const { source, clock } = start();
    const first = await source.load(trusted);
    await clock.advance(20 * DAY);
    await source.load(() => false);
    await clock.advance(5 * DAY);
    const { tls } = await source.load(() => false);
    expect(isSignedBy(tls.certPem, first.caBundlePem)).toBe(true);
  });

  test('rotates by age alone a CA that an administrator registers', async () => {
    const { source, clock } = start(memoryAuthorityStore(), manualClock(), false);
    const first = await source.load(() => false);
    await clock.advance(20 * DAY);
    const announced = await source.load(() => false);
    await clock.advance(5 * DAY);
    await source.load(() => false);
    const promoted = await source.load(() => false);
    expect(isSignedBy(promoted.tls.certPem, first.caBundlePem)).toBe(false);
    expect(isSignedBy(promoted.tls.certPem, announced.caBundlePem)).toBe(true);
  });

  test('gives replicas one authority and each its own certificate', async () => {
    const store = memoryAuthorityStore();
    const clock = manualClock();
    const [one, other] = await Promise.all([
      start(store, clock).source.load(trusted),
      start(store, clock).source.load(trusted),
    ]);
    const again = await start(store, clock).source.load(trusted);
    expect(again.caBundlePem).toBe(other.caBundlePem);
    expect(again.tls.keyPem).not.toBe(one.tls.keyPem);
  });

  test('takes the authority of the replica that was faster', async () => {
    const shared = memoryAuthorityStore();
    const { source: winner } = start(shared);
    let isFirst = true;
    const contested: AuthorityStore = {
      read: () => shared.read(),
      write: async (authorities, version) => {
        if (!isFirst) return shared.write(authorities, version);
        isFirst = false;
        await winner.load(trusted);
        return false;
      },
    };
    const { caBundlePem } = await start(contested).source.load(trusted);
    expect(caBundlePem).toBe((await winner.load(trusted)).caBundlePem);
  });
});
