import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import { at, type Harness, textAt, uniqueName } from '#test/contract/harness.ts';
import { ADMISSION } from '#test/contract/webhook-registrar.ts';

/** Where a webhook finds its certificate, and a way to have it renewed. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  renew(): void;
}

const INJECT_EVERY_MS = 100;
const KINDS = ['mutating', 'validating'];

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

  async function inject(): Promise<void> {
    const bundle = Buffer.from(authority.certPem).toString('base64');
    await Promise.all(
      KINDS.map((kind) => injectInto(api, `${ADMISSION}/${kind}webhookconfigurations/plimsoll`, bundle)),
    );
  }

  beforeAll(() => {
    renew();
    injecting = setInterval(() => void inject().catch(() => undefined), INJECT_EVERY_MS);
  });
  afterAll(() => {
    clearInterval(injecting);
    rmSync(folder, { recursive: true });
  });
  return { ...files, renew };
}

async function injectInto(api: Harness, path: string, bundle: string): Promise<void> {
  const { status, body } = await api.get(path);
  if (status !== 200) return;
  const entries = at(body, 'webhooks') as readonly object[];
  const missing = entries.flatMap((entry, index) => (at(entry, 'clientConfig.caBundle') === bundle ? [] : [index]));
  if (missing.length === 0) return;
  const guard = { op: 'test', path: '/metadata/resourceVersion', value: textAt(body, 'metadata.resourceVersion') };
  const add = (index: number) => ({ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: bundle });
  await api.patch(path, [guard, ...missing.map(add)], 'json');
}
