import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import { type Harness, uniqueName } from '#test/contract/harness.ts';
import { registerCaBundle } from '#webhook/registration/registration.ts';
import { liveReader } from '#webhook/cluster-state/read-own.ts';

/** The certificate files of a webhook, and a way to renew them. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  renew(): void;
}

const INJECT_EVERY_MS = 100;

/**
 * Stands in for cert-manager, its injector and the kubelet: registers hooks of the present `describe` that put a
 * certificate into two files, and its authority into both webhook configurations whenever it is not there.
 */
export function certificateFiles(api: Harness): CertificateFiles {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-certificate-'));
  const authority = createAuthority({ commonName: uniqueName('authority'), days: 1, now: Date.now() });
  const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
  let injecting: NodeJS.Timeout | undefined;

  function renew(): void {
    const names = { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
    const { certPem, keyPem } = issueServerCertificate(authority, { ...names, days: 1, now: Date.now() });
    for (const [file, text] of [[files.certFile, certPem] as const, [files.keyFile, keyPem] as const]) {
      writeFileSync(`${file}.next`, text, { mode: 0o600 });
      renameSync(`${file}.next`, file);
    }
  }

  /** There may be no configurations yet, or they change concurrently: the next round follows soon. */
  function inject(): void {
    void registerCaBundle(api.client, authority.certPem, liveReader(api.client)).catch(() => undefined);
  }

  beforeAll(() => {
    renew();
    injecting = setInterval(inject, INJECT_EVERY_MS);
  });
  afterAll(() => {
    clearInterval(injecting);
    rmSync(folder, { recursive: true });
  });
  return { ...files, renew };
}
