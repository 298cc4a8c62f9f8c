import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FakeApiServer, type FakeObject, startFakeApiServer } from '#test/agent/fake-api-server.ts';

/** Real cgroups of this machine (v1), made for a benchmark and removed after it. */
export interface PodGroups {
  /** Below each controller's tree; what the agent is told as `path.kubepods`. */
  readonly kubepods: string;
  readonly uids: readonly string[];
  /** Moves a process into one pod's memory group. */
  readonly join: (uid: string, pid: number) => void;
  /** Limits all pods together, as the kubelet does on a node. */
  readonly limit: (bytes: number) => void;
  readonly remove: () => void;
}

const ROOT = '/sys/fs/cgroup';
const TREES = ['memory', 'cpu', 'cpuacct', 'pids', 'blkio', 'unified'] as const;

/** Makes `count` Burstable pod groups under a group of its own; throws where cgroups may not be made. */
export function createPodGroups(count: number): PodGroups {
  const kubepods = `plimsoll-bench-${process.pid}`;
  const uids = Array.from({ length: count }, (_, index) => `uid-${String(index).padStart(5, '0')}`);
  const paths = [kubepods, `${kubepods}/burstable`, ...uids.map((uid) => `${kubepods}/burstable/pod${uid}`)];
  for (const tree of TREES) for (const path of paths) mkdirSync(`${ROOT}/${tree}/${path}`, { recursive: true });
  return {
    kubepods,
    uids,
    join: (uid, pid) => {
      for (const tree of TREES)
        writeFileSync(`${ROOT}/${tree}/${kubepods}/burstable/pod${uid}/cgroup.procs`, String(pid));
    },
    limit: (bytes) => writeFileSync(`${ROOT}/memory/${kubepods}/memory.limit_in_bytes`, String(bytes)),
    remove: () => {
      for (const tree of TREES) for (const path of paths.toReversed()) rmdirSync(`${ROOT}/${tree}/${path}`);
    },
  };
}

/** A pod as the API server sends it, with its UID as name. */
export function benchPod(uid: string, priority: number): FakeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: uid, namespace: 'default', uid },
    spec: { nodeName: 'bench', priority, containers: [{ name: 'main', resources: { requests: { memory: '16Mi' } } }] },
    status: { phase: 'Running', startTime: '2026-01-01T00:00:00Z', qosClass: 'Burstable' },
  };
}

export interface AgentProcess {
  readonly child: ChildProcess;
  readonly api: FakeApiServer;
  /** Resolves with everything it printed. */
  readonly stop: () => Promise<string>;
}

const MAIN = new URL('../agent/main.ts', import.meta.url).pathname;
const CACHE = join(tmpdir(), 'plimsoll-bench-compile-cache');
/** As the DaemonSet starts it: compiled code from the cache of the image, a young generation that stays small. */
const NODE_FLAGS = ['--max-semi-space-size=1', '--max-old-space-size=48'];

/** Fills the compile cache as an image build does: once filled, the type stripper is not loaded any more. */
export async function warmCompileCache(): Promise<void> {
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, '--help'], {
    env: { ...process.env, NODE_COMPILE_CACHE: CACHE },
    stdio: 'ignore',
  });
  await new Promise((resolve) => child.on('close', resolve));
}

/** Starts an API server with these pods and the agent as a process of its own beside it. */
export async function startAgent(
  pods: readonly FakeObject[],
  flags: readonly string[],
  policy?: object,
): Promise<AgentProcess> {
  const api = await startFakeApiServer();
  const directory = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'));
  writeFileSync(join(directory, 'token'), 'secret');
  writeFileSync(join(directory, 'ca.crt'), '');
  api.put('/api/v1/nodes', { metadata: { name: 'bench', uid: 'uid-bench' } });
  api.put('/api/v1/namespaces', { metadata: { name: 'default' } });
  if (policy !== undefined) {
    api.put('/apis/plimsoll.dev/v1alpha1/nodepressurepolicies', { metadata: { name: 'bench' }, spec: policy });
  }
  for (const pod of pods) api.put('/api/v1/pods', pod);
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: CACHE,
    PLIMSOLL_SERVER: api.url,
    PLIMSOLL_TOKEN_FILE: join(directory, 'token'),
    PLIMSOLL_CA_FILE: join(directory, 'ca.crt'),
  };
  const usual = ['--node-name=bench', '--health-host=127.0.0.1', '--health-port=0'];
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, ...usual, ...flags], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const ended = new Promise((resolve) => child.on('close', resolve));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Agent started')) resolve();
    });
    child.on('close', () => reject(new Error(`agent did not start: ${output}`)));
  });

  async function stop(): Promise<string> {
    child.kill('SIGTERM');
    await ended;
    await api.close();
    rmSync(directory, { recursive: true });
    return output;
  }
  return { child, api, stop };
}

export interface Footprint {
  readonly cpuSeconds: number;
  readonly rssMiB: number;
  readonly privateMiB: number;
}

const TICKS_PER_SECOND = 100;

/** CPU, resident and private (RssAnon) memory of a process now. */
export function footprintOf(pid: number): Footprint {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (key: string): number => Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    rssMiB: mebibytes('VmRSS'),
    privateMiB: mebibytes('RssAnon'),
  };
}
