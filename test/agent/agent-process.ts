import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMPILE_CACHE } from '#test/build/compile-cache.ts';
import type { StoredObject } from '#test/fakes/stored-objects.ts';
import { type AgentApi, agentApi } from './agent-api.ts';

/** A pod as the API server sends it, with its UID as name. */
export function groupPod(uid: string, priority: number): StoredObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: uid, namespace: 'default', uid },
    spec: { nodeName: 'n1', priority, containers: [{ name: 'main', resources: { requests: { memory: '16Mi' } } }] },
    status: { phase: 'Running', startTime: '2026-01-01T00:00:00Z', qosClass: 'Burstable' },
  };
}

export interface AgentProcess {
  readonly child: ChildProcess;
  readonly api: AgentApi;
  /** Of health and metrics. */
  readonly url: string;
  /** Resolves with everything it printed. */
  readonly stop: () => Promise<string>;
}

const MAIN = new URL('../../agent/main.ts', import.meta.url).pathname;
/** As the DaemonSet starts it. */
export const NODE_FLAGS = [
  '--single-threaded',
  '--no-maglev',
  '--max-semi-space-size=1',
  '--max-old-space-size=48',
  '--optimize-for-size',
];

/** Fills the compile cache as an image build may: once filled, the type stripper is not loaded any more. */
export async function warmCompileCache(): Promise<void> {
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, '--help'], {
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
    stdio: 'ignore',
  });
  await new Promise((resolve) => child.on('close', resolve));
}

/** How a node runs its agent: it is moved into its cgroup before its first page, and runs as an unprivileged user. */
export interface Confinement {
  readonly join: (pid: number) => void;
  readonly userId: number;
}

const UNCONFINED: Confinement = { join: () => undefined, userId: process.getuid?.() ?? 0 };
const READABLE_BY_ALL = 0o755;
/** Waits to be moved where it belongs, then becomes the program; where util-linux is, one that ends with its starter. */
const WAIT_AND_BECOME = `read go
setpriv --pdeathsig TERM true 2> /dev/null && set -- setpriv --pdeathsig TERM "$@"
exec "$@"`;

/** Starts an API server with these pods, and the agent as a separate process. */
export async function startAgent(
  pods: readonly StoredObject[],
  flags: readonly string[],
  policy?: object,
  { join: enter, userId }: Confinement = UNCONFINED,
  stored: readonly (readonly [collection: string, object: StoredObject])[] = [],
): Promise<AgentProcess> {
  const api = await agentApi();
  const directory = mkdtempSync(join(tmpdir(), 'plimsoll-agent-'));
  chmodSync(directory, READABLE_BY_ALL);
  writeFileSync(join(directory, 'token'), 'secret');
  writeFileSync(join(directory, 'ca.crt'), '');
  api.put('/api/v1/nodes', { metadata: { name: 'n1', uid: 'uid-n1' } });
  api.put('/api/v1/namespaces', { metadata: { name: 'default' } });
  if (policy !== undefined) {
    api.put('/apis/plimsoll.dev/v1alpha1/nodepressurepolicies', { metadata: { name: 'n1' }, spec: policy });
  }
  for (const pod of pods) api.put('/api/v1/pods', pod);
  for (const [collection, object] of stored) api.put(collection, object);
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    MALLOC_ARENA_MAX: '1',
    PLIMSOLL_SERVER: api.url,
    PLIMSOLL_TOKEN_FILE: join(directory, 'token'),
    PLIMSOLL_CA_FILE: join(directory, 'ca.crt'),
  };
  const usual = ['--node-name=n1', '--health-host=127.0.0.1', '--health-port=0'];
  const command = [process.execPath, ...NODE_FLAGS, MAIN, ...usual, ...flags];
  const child = spawn('sh', ['-c', WAIT_AND_BECOME, 'sh', ...command], {
    env,
    uid: userId,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  enter(child.pid ?? 0);
  child.stdin.end('go\n');
  let output = '';
  const ended = new Promise((resolve) => child.on('close', resolve));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Agent started')) resolve();
    });
    child.on('close', (code, signal) => reject(new Error(`agent did not start (${signal ?? code}): ${output}`)));
  });

  async function stop(): Promise<string> {
    child.kill('SIGTERM');
    await ended;
    await api.close();
    rmSync(directory, { recursive: true });
    return output;
  }
  const [, url = ''] = /"health":"([^"]+)"/.exec(output) ?? [];
  return { child, api, url, stop };
}
