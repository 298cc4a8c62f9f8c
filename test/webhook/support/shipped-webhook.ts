import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { ApiDouble } from '#test/fakes/api-double.ts';
import { startServer, warmCompileCache, type ServerProcess } from './server-process.ts';

const FLAGS = [
  '--host=127.0.0.1',
  '--port=0',
  '--health-host=127.0.0.1',
  '--health-port=0',
  '--drain-seconds=0',
  '--registration-mode=None',
];

/** The webhook as its image runs it, in a process of its own, registered nowhere. */
export async function startShippedWebhook(api: ApiDouble, more: readonly string[] = []): Promise<ServerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-webhook-'));
  writeFileSync(join(folder, 'token'), 'token');
  writeFileSync(join(folder, 'ca.pem'), '');
  const main = { nodeFlags: shippedNodeFlags(), file: pathOf('../../../webhook/main.ts') };
  warmCompileCache(main);
  const env = {
    PLIMSOLL_SERVER: api.url,
    PLIMSOLL_TOKEN_FILE: join(folder, 'token'),
    PLIMSOLL_CA_FILE: join(folder, 'ca.pem'),
  };
  const server = await startServer({ ...main, args: [...FLAGS, ...more], env });
  return {
    ...server,
    stop: async () => {
      const code = await server.stop();
      rmSync(folder, { recursive: true });
      return code;
    },
  };
}

/** The flags of V8 with which the Deployment starts the webhook. */
export function shippedNodeFlags(): readonly string[] {
  return JSON.parse(`[${inDeployment(/"command":\["node",(.*?),"webhook\/main.ts"\]/)}]`) as string[];
}

/** The memory of the webhook's container in the Deployment. */
export function shippedMemoryMiB(): number {
  return Number(inDeployment(/"limits":\{[^}]*"memory":"(\d+)Mi"/));
}

function inDeployment(pattern: RegExp): string {
  const manifest: unknown = parse(readFileSync(pathOf('../../../deploy/base/webhook/deployment.yaml'), 'utf8'));
  const found = pattern.exec(JSON.stringify(manifest))?.[1];
  if (found === undefined) throw new Error(`the Deployment has nothing like ${pattern.source}`);
  return found;
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
