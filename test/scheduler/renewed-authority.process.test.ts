import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOUR_MS } from '#shared/domain/base/durations.ts';
import { type CertificatePair, createAuthority } from '#shared/http/certificates.ts';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { buildKubeconfig } from '#test/build/kubeconfig.ts';
import { startTlsFront, type TlsFront } from '#test/build/tls-front.ts';
import { untilScores } from '#test/cluster/scheduler/ask-extender.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { runningApiServer } from '#test/sandbox/api-server/running-api-server.ts';
import { type SchedulerProcess, startSchedulerProcess } from './scheduler-process.ts';

const TIMEOUT_MS = 60_000;
const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const OWNER = { kind: 'ReplicaSet', name: 'web' };

describe('an API server whose certificate is of a new CA', { timeout: TIMEOUT_MS }, () => {
  const server = runningApiServer();
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
  const caFile = join(folder, 'ca.crt');
  const [old, renewed] = ['old', 'renewed'].map((commonName) =>
    createAuthority({ commonName, days: 1, now: Date.now() }),
  ) as [CertificatePair, CertificatePair];
  let port = 0;
  let client: KubeClient;
  let front: TlsFront;
  let scheduler: SchedulerProcess;

  beforeAll(async () => {
    const { url, token, caPem: ca } = server();
    client = createClient(directConnection({ server: url, token, ca }), { userAgent: 'test' });
    await installPlimsoll(client);
    front = await startTlsFront({ server: url, ca }, old);
    writeFileSync(caFile, old.certPem);
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, buildKubeconfig({ server: front.url, caFile }, { token }));
    [port = 0] = await freePorts(1);
    scheduler = await startSchedulerProcess(kubeconfig, port, ['--nodes-passes=Off']);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await scheduler.stop();
    await front.close();
    client.close();
    rmSync(folder, { recursive: true });
  });

  /** A node that the process learns of only from the API server. */
  async function avoid(name: string): Promise<void> {
    const avoided = [
      {
        owner: { namespace: 'default', ...OWNER },
        until: new Date(Date.now() + HOUR_MS).toISOString(),
        cause: 'by hand',
      },
    ];
    const type = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure' };
    const body = { ...type, metadata: { name }, spec: { avoid: avoided } };
    expect(await client.request({ method: 'POST', path: PRESSURES, body })).toMatchObject({ kind: 'ok' });
    const owners = [{ apiVersion: 'apps/v1', ...OWNER, uid: 'u', controller: true }];
    await untilScores(port, { [name]: 0 }, owners);
  }

  test('is followed by the running process as soon as the CA file is renewed', async () => {
    await avoid('before');
    front.renew(renewed);
    writeFileSync(caFile, renewed.certPem);
    await avoid('after');
  });
});
