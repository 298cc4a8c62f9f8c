import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { buildKubeconfig } from '#test/build/kubeconfig.ts';
import { at } from '#test/contract/harness.ts';
import { runningApiServer } from '#test/sandbox/api-server/running-api-server.ts';
import { type SchedulerProcess, startSchedulerProcess } from './scheduler-process.ts';

const TIMEOUT_MS = 60_000;

/** An API server of the sandbox with our kinds, and scheduler processes that speak to it over HTTPS. */
export interface ProcessScene {
  /** For requests that may be refused. */
  readonly client: () => KubeClient;
  /** Sends a request that the API server accepts; resolves with the object. */
  readonly send: (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) => Promise<unknown>;
  /** Starts a process that is stopped in the end. */
  readonly start: (flags: readonly string[]) => Promise<SchedulerProcess>;
}

/** Registers hooks of the present `describe` that start and end it. */
export function processScene(): ProcessScene {
  const server = runningApiServer();
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const started: SchedulerProcess[] = [];
  let client: KubeClient;

  beforeAll(async () => {
    const { url, token, caPem: ca } = server();
    client = createClient(directConnection({ server: url, token, ca }), { userAgent: 'test' });
    await installPlimsoll(client);
    writeFileSync(kubeconfig, buildKubeconfig({ server: url, ca }, { token }));
  }, TIMEOUT_MS);
  afterAll(async () => {
    await Promise.all(started.map((each) => each.stop()));
    client.close();
    rmSync(folder, { recursive: true });
  });

  return {
    client: () => client,
    send: async (method, path, body) => {
      const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const outcome = await client.request({ method, path, contentType, ...(body && { body }) });
      expect(outcome).toMatchObject({ kind: 'ok' });
      return at(outcome, 'object');
    },
    start: async (flags) => {
      const process = await startSchedulerProcess(kubeconfig, 0, flags);
      started.push(process);
      return process;
    },
  };
}
