import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  certificateValidity,
  createAuthority,
  issueClientCertificate,
  issueServerCertificate,
} from '#shared/http/certificates.ts';

const NOW = Date.UTC(2026, 0, 1);
const authority = createAuthority({ commonName: 'plimsoll-ca', days: 365, now: NOW });
const server = issueServerCertificate(authority, {
  dnsNames: ['plimsoll-webhook.plimsoll-system.svc', 'localhost'],
  ipAddresses: ['127.0.0.1', '::1', '::ffff:10.0.0.1', 'fd00::1:2'],
  days: 7,
  now: NOW,
});

describe('createAuthority', () => {
  test('makes a self-signed authority', () => {
    const certificate = new X509Certificate(authority.certPem);
    expect({
      ca: certificate.ca,
      verified: certificate.verify(certificate.publicKey),
      subject: certificate.subject,
    }).toEqual({
      ca: true,
      verified: true,
      subject: 'CN=plimsoll-ca',
    });
  });

  test('makes another key and serial number each time', () => {
    const other = createAuthority({ commonName: 'plimsoll-ca', days: 365, now: NOW });
    expect(new X509Certificate(other.certPem).serialNumber).not.toBe(
      new X509Certificate(authority.certPem).serialNumber,
    );
    expect(new X509Certificate(server.certPem).verify(new X509Certificate(other.certPem).publicKey)).toBe(false);
  });

  test('writes times after 2049 as RFC 5280 wants them', () => {
    const long = createAuthority({ commonName: 'long', days: 365 * 40, now: NOW });
    expect(new X509Certificate(long.certPem).validToDate.getTime()).toBe(long.notAfter);
  });
});

describe('issueServerCertificate', () => {
  const certificate = new X509Certificate(server.certPem);

  test('is signed by the authority and holds every name', () => {
    expect(certificate.verify(new X509Certificate(authority.certPem).publicKey)).toBe(true);
    expect(certificate.checkIssued(new X509Certificate(authority.certPem))).toBe(true);
    expect(certificate.subjectAltName).toBe(
      'DNS:plimsoll-webhook.plimsoll-system.svc, DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, ' +
        'IP Address:0:0:0:0:0:FFFF:A00:1, IP Address:FD00:0:0:0:0:0:1:2',
    );
  });

  test('is valid from five minutes ago for the days asked', () => {
    expect(certificateValidity(server.certPem)).toEqual({ notBefore: NOW - 300_000, notAfter: NOW + 7 * 86_400_000 });
    expect(server.notAfter).toBe(NOW + 7 * 86_400_000);
  });

  test('refuses what is no address', () => {
    expect(() =>
      issueServerCertificate(authority, { dnsNames: [], ipAddresses: ['10.0.0'], days: 1, now: NOW }),
    ).toThrow('cannot issue a certificate: "10.0.0" is not an IP address');
  });

  test('passes the strict checks of openssl', () => {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
    try {
      writeFileSync(join(folder, 'ca.pem'), authority.certPem);
      writeFileSync(join(folder, 'leaf.pem'), server.certPem);
      const checks = ['-x509_strict', '-purpose', 'sslserver', '-attime', String(NOW / 1000 + 60)];
      const output = execFileSync('openssl', [
        'verify',
        ...checks,
        '-CAfile',
        join(folder, 'ca.pem'),
        join(folder, 'leaf.pem'),
      ]);
      expect(output.toString()).toContain(': OK');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('issueClientCertificate', () => {
  test('names the caller and is no server certificate', () => {
    const client = issueClientCertificate(authority, { commonName: 'kube-apiserver', days: 1, now: NOW });
    const { subject, keyUsage } = new X509Certificate(client.certPem);
    expect({ subject, keyUsage }).toEqual({ subject: 'CN=kube-apiserver', keyUsage: ['1.3.6.1.5.5.7.3.2'] });
  });
});
