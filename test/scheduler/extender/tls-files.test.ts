import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import type { TlsOptions } from '#shared/http/serve.ts';
import { createLog } from '#shared/runtime/log.ts';
import { followTlsFiles, readTlsFiles } from '#scheduler/extender/tls-files.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
const authority = createAuthority({ commonName: 'test', days: 1, now: Date.now() });
const stop = new AbortController();

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
    const log = createLog({ component: 'test', level: 'silent', format: 'json' });
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

  test('without a certificate there is no TLS', () => {
    expect(readTlsFiles({})).toBeUndefined();
  });
});
