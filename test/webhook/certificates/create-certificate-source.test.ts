import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAuthority } from '#shared/http/certificates.ts';
import { withClientAuthority, type ServingCertificate } from '#webhook/certificates/certificate-source.ts';

const SERVED: ServingCertificate = {
  tls: { certPem: 'cert', keyPem: 'key' },
  notBefore: 0,
  notAfter: 1,
  caBundlePem: undefined,
};

describe('withClientAuthority', () => {
  let folder = '';
  let file = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-client-ca-'));
    file = join(folder, 'ca.pem');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('reads the CA on every load', async () => {
    const source = withClientAuthority({ load: () => Promise.resolve(SERVED) }, file);
    for (const commonName of ['first', 'second']) {
      const { certPem } = createAuthority({ commonName, days: 1, now: Date.now() });
      writeFileSync(file, certPem);
      expect((await source.load(() => true)).tls).toEqual({ ...SERVED.tls, clientCaPem: certPem });
    }
  });

  test('rejects a CA file without a certificate', async () => {
    const source = withClientAuthority({ load: () => Promise.resolve(SERVED) }, file);
    await expect(source.load(() => true)).rejects.toThrow(`cannot read certificate file "${file}"`);
    writeFileSync(file, 'half a cert');
    await expect(source.load(() => true)).rejects.toThrow(`cannot use CA file "${file}": it contains no certificate`);
  });
});
