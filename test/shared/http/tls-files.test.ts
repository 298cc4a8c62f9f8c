import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import type { TlsOptions } from '#shared/http/serve.ts';
import { createLog } from '#shared/runtime/log.ts';
import { followTlsFiles, readTlsFiles } from '#shared/http/tls-files.ts';
import { followCertificates } from '#shared/runtime/certificate-file.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

let folder = '';
let files = { certFile: '', keyFile: '' };
const authority = createAuthority({ commonName: 'test', days: 1, now: Date.now() });
const stop = new AbortController();
const log = createLog({ component: 'test', level: 'silent', format: 'json' });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
  files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
});
afterEach(() => {
  stop.abort();
  rmSync(folder, { recursive: true, force: true });
});

function issue() {
  const names = { dnsNames: ['localhost'], ipAddresses: [], commonName: 'extender' };
  return issueServerCertificate(authority, { ...names, days: 1, now: Date.now() });
}

describe('followTlsFiles', () => {
  test('gives the server only pairs that belong together', async () => {
    const [old, renewed] = [issue(), issue()];
    writeFileSync(files.certFile, old.certPem);
    writeFileSync(files.keyFile, old.keyPem);
    const first = readTlsFiles(files) as TlsOptions;
    const given: TlsOptions[] = [];
    const server = { setCertificate: (tls: TlsOptions) => void given.push(tls) };
    const clock = manualClock();
    void followTlsFiles({ server, files, first, clock, log }, stop.signal);
    await clock.advance(5_000);
    expect(given).toEqual([]);
    writeFileSync(files.certFile, renewed.certPem);
    await clock.advance(5_000);
    expect(given).toEqual([]);
    writeFileSync(files.keyFile, renewed.keyPem);
    await clock.advance(10_000);
    expect(given).toEqual([{ certPem: renewed.certPem, keyPem: renewed.keyPem }]);
    rmSync(files.certFile);
    await clock.advance(5_000);
    expect(given).toHaveLength(1);
  });
});

describe('readTlsFiles', () => {
  test('names a file that is missing', () => {
    expect(() => readTlsFiles({ certFile: '/none/tls.crt', keyFile: '/none/tls.key' })).toThrow(
      'cannot read certificate file "/none/tls.crt"',
    );
  });

  test('takes no client CA that is none: TLS would refuse every client', () => {
    const { certPem, keyPem } = issue();
    const clientCaFile = join(folder, 'ca.crt');
    for (const [file, text] of [
      [files.certFile, certPem],
      [files.keyFile, keyPem],
      [clientCaFile, 'half a cert'],
    ] as const)
      writeFileSync(file, text);
    expect(() => readTlsFiles({ ...files, clientCaFile })).toThrow(
      `cannot use CA file "${clientCaFile}": it contains no certificate`,
    );
  });

  test('without a certificate there is no TLS', () => {
    expect(readTlsFiles({})).toBeUndefined();
  });
});

describe('followCertificates', () => {
  test('reads a replaced file after five seconds, and keeps the CA while the file cannot be used', async () => {
    const [old, next] = ['old', 'next'].map(
      (commonName) => createAuthority({ commonName, days: 1, now: Date.now() }).certPem,
    );
    const file = join(folder, 'ca.crt');
    writeFileSync(file, String(old));
    const clock = manualClock();
    const latest = followCertificates(file, { clock, log });
    writeFileSync(file, 'half a cert');
    await clock.advance(5_000);
    expect(latest()).toBe(old);
    writeFileSync(file, String(next));
    await clock.advance(4_000);
    expect(latest()).toBe(old);
    await clock.advance(1_000);
    expect(latest()).toBe(next);
    rmSync(file);
    await clock.advance(5_000);
    expect(latest()).toBe(next);
  });

  test('throws where there is no CA to begin with', () => {
    expect(() => followCertificates('/none/ca.crt', { clock: manualClock(), log })).toThrow(
      'cannot read certificate file "/none/ca.crt"',
    );
  });
});
