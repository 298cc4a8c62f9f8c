import { type ChildProcess, spawn } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { findCgroupLayout } from '#agent/observe/cgroup-layout.ts';
import { memoryEventsSource } from '#agent/observe/memory-events.ts';
import { createPodScanner } from '#agent/observe/pod-scanner.ts';
import { type AgentProcess, groupPod, startAgent } from './agent-process.ts';
import { createPodGroups, type PodGroups, whyNoPodGroups } from './pod-groups.ts';

const HOG = new URL('hog.ts', import.meta.url).pathname;
const MIB = 1024 * 1024;
const reason = whyNoPodGroups();
// On a machine that cannot do this it is not run, and says so; where CI promised such a machine it is a failure.
const isRun = reason === undefined || process.env['CI'] !== undefined;

let groups: PodGroups;
let agent: AgentProcess | undefined;
let processes: ChildProcess[];

function startIn(uid: string, mebibytes: number, mebibytesPerSecond: number): ChildProcess {
  const child = spawn(process.execPath, [HOG, String(mebibytesPerSecond * MIB), String(mebibytes * MIB)], {
    stdio: 'ignore',
  });
  groups.join(uid, child.pid ?? 0);
  processes.push(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await new Promise((resolve) => child.on('close', resolve));
}

function layout() {
  const found = findCgroupLayout('/sys/fs/cgroup', groups.kubepods);
  if (found.kind === 'unknown') throw new Error(found.because);
  return found.layout;
}

describe.skipIf(!isRun)(`real processes in real cgroups (${reason ?? 'v1'})`, () => {
  beforeEach(() => {
    processes = [];
    groups = createPodGroups(3);
  });

  afterEach(async () => {
    for (const child of processes) await kill(child);
    await agent?.stop();
    agent = undefined;
    groups.remove();
  });

  test('the scanner sees what a process uses, and nothing of its neighbours', async () => {
    const [uid = '', other = ''] = groups.uids;
    const scanner = createPodScanner(layout());
    scanner.follow([uid, other].map((each) => ({ uid: each, qos: 'Burstable' })));
    startIn(uid, 64, 1000);
    await vi.waitFor(() => {
      const memory = scanner.readMemory(uid);
      expect(memory?.kind === 'reading' && memory.value.workingSetBytes).toBeGreaterThan(64 * MIB);
    }, 10_000);
    expect(scanner.readMemory(other)).toMatchObject({ kind: 'reading', value: { workingSetBytes: 0 } });
    expect(scanner.readDetails(uid)).toMatchObject({
      pids: { kind: 'reading' },
      cpu: { kind: 'reading' },
      events: { kind: 'reading' },
    });
    scanner.close();
  });

  test('a group that is removed while its descriptors are open is absent, not zero (F-22)', () => {
    const [uid = ''] = groups.uids;
    const scanner = createPodScanner(layout());
    scanner.follow([{ uid, qos: 'Burstable' }]);
    expect(scanner.readMemory(uid)?.kind).toBe('reading');
    groups.remove();
    expect(scanner.readMemory(uid)?.kind).toBe('absent');
    scanner.close();
    groups = createPodGroups(3);
  });

  test('the agent evicts the hog by its UID before the kernel kills, and leaves the quiet pod alone', async () => {
    const [hogUid = '', quietUid = ''] = groups.uids;
    groups.limit(600 * MIB);
    const flags = [`--path-kubepods=${groups.kubepods}`, '--warm-up-ms=0'];
    const policy = { mode: 'Enforce', evictionHard: { 'allocatableMemory.available': '200Mi' } };
    agent = await startAgent([groupPod(hogUid, 0), groupPod(quietUid, 1000)], flags, policy);
    const { api } = agent;
    startIn(quietUid, 32, 1000);
    await vi.waitFor(() => expect(JSON.stringify(api.writes.at(-1)?.body)).toContain(quietUid), 15_000);
    const hog = startIn(hogUid, 3000, 100);
    api.onEvicted = () => void hog.kill('SIGTERM');
    await vi.waitFor(() => expect(hog.exitCode).toBe(0), 20_000);
    const evictions = api.writes.filter(({ path }) => path.endsWith('/eviction'));
    expect(evictions.map(({ body }) => body['deleteOptions'])).toEqual([
      { preconditions: { uid: hogUid }, gracePeriodSeconds: 1 },
    ]);
    const events = memoryEventsSource(layout(), `${groups.kubepods}/burstable/pod${hogUid}`);
    expect(events.read()).toMatchObject({ kind: 'reading', value: { oomKills: 0 } });
    events.close();
  });
});
