import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CgroupMemory } from '#agent/observe/cgroup/memory-cgroup.ts';
import type { CgroupDetails } from '#agent/observe/cgroup/cgroup-details.ts';
import { createGroupMeter } from '#agent/observe/cgroup/pod-rates.ts';
import { createPodScanner, type PodScanner } from '#agent/observe/node/kernel-pods.ts';
import type { Reading } from '#agent/observe/source/source.ts';
import { hog, realPods, whyNoRealPods } from '#test/agent/real-pods.ts';
import { eventually } from '#test/build/waiting.ts';

const MIB = 1024 * 1024;
const WITHIN = 60_000;
const TEST = { timeout: 120_000 };
const BUSY = ['sh', '-c', 'while :; do :; done'];
const reason = whyNoRealPods();

/** Where each version keeps what a pod uses, and under which name. */
const MEMORY = {
  v1: { usage: 'memory.usage_in_bytes', inactiveFile: 'total_inactive_file' },
  v2: { usage: 'memory.current', inactiveFile: 'inactive_file' },
} as const;

/** A v1 kernel counts only for devices that have a limit, so there it may stay at 0. */
const WRITTEN = {
  v1: { file: 'blkio.throttle.io_service_bytes_recursive', pattern: / Write (\d+)$/gm },
  v2: { file: 'io.stat', pattern: / wbytes=(\d+)/g },
} as const;

describe.skipIf(reason !== undefined)(`sources on real cgroups${reason === undefined ? '' : ` (${reason})`}`, () => {
  describe.each(['cgroupfs', 'systemd'] as const)('named by the %s driver', (driver) => {
    const pods = realPods(driver);
    let scanner: PodScanner;
    let folder: string;

    beforeEach(() => {
      const { uids, layout } = pods();
      scanner = createPodScanner(layout);
      scanner.follow(uids.map((uid) => ({ uid, qos: 'Burstable' })));
      folder = mkdtempSync(join(tmpdir(), 'plimsoll-pages-'));
    });
    afterEach(() => {
      scanner.close();
      rmSync(folder, { recursive: true });
    });

    const write = (mebibytes: number, ...flags: readonly string[]): readonly string[] => [
      'dd',
      'if=/dev/zero',
      `of=${join(folder, 'pages')}`,
      'bs=1048576',
      `count=${mebibytes}`,
      ...flags,
    ];
    const memory = (uid: string): CgroupMemory => valueOf(scanner.readMemory(uid));
    const details = (uid: string): CgroupDetails => scanner.readDetails(uid) ?? expect.unreachable();
    /** The kernel brings these totals up to date every two seconds only. */
    const hasWaited = (uid: string, stalls: 'memoryStalls' | 'cpuStalls' | 'ioStalls'): Promise<void> =>
      eventually(() => expect(valueOf(details(uid)[stalls]).someMicroseconds).toBeGreaterThan(0), WITHIN);

    test(
      'memory is what the kernel charges, without the cache it would give up first, and nothing of a neighbour',
      TEST,
      async () => {
        const { uids, version, layout, pathOf, start } = pods();
        const [uid = '', other = ''] = uids;
        await once(start(uid, write(48)), 'exit');
        const holder = start(uid, hog(64, 1000));
        await eventually(() => expect(memory(uid).workingSetBytes).toBeGreaterThan(64 * MIB), WITHIN);
        holder.kill('SIGSTOP');
        const file = (name: string): string => readFileSync(`${layout.memory}/${pathOf(uid)}/${name}`, 'utf8');
        await eventually(() => {
          const usageBytes = Number(file(MEMORY[version].usage));
          const inactive = new RegExp(`^${MEMORY[version].inactiveFile} (\\d+)$`, 'm').exec(file('memory.stat'))?.[1];
          const workingSetBytes = usageBytes - Number(inactive);
          expect(memory(uid)).toEqual({ usageBytes, workingSetBytes, limitBytes: Infinity });
          expect(usageBytes - workingSetBytes).toBeGreaterThanOrEqual(40 * MIB);
        }, WITHIN);
        expect(memory(other)).toEqual({ usageBytes: 0, workingSetBytes: 0, limitBytes: Infinity });
      },
    );

    test('CPU time and throttling of a pod at its quota', TEST, async () => {
      const { uids, limitPod, start } = pods();
      const [uid = '', other = ''] = uids;
      limitPod(uid, { cpus: 0.2 });
      for (let index = 0; index < 3; index += 1) start(uid, BUSY);
      await eventually(() => {
        const { usageSeconds, throttledSeconds } = valueOf(details(uid).cpu);
        expect(usageSeconds).toBeGreaterThan(0.2);
        expect(throttledSeconds).toBeGreaterThan(0.2);
      }, WITHIN);
      expect(valueOf(details(other).cpu)).toEqual({ usageSeconds: 0, throttledSeconds: 0 });
      await hasWaited(uid, 'cpuStalls');
    });

    test('bytes written past the cache, as far as this kernel counts them, and the wait for them', TEST, async () => {
      const { uids, version, layout, pathOf, start } = pods();
      const [uid = '', other = ''] = uids;
      const exit = await once(start(uid, write(32, 'oflag=direct')), 'exit');
      expect(exit).toEqual([0, null]);
      const text = readFileSync(`${layout.io ?? ''}/${pathOf(uid)}/${WRITTEN[version].file}`, 'utf8');
      const counted = [...text.matchAll(WRITTEN[version].pattern)].map(([, bytes]) => Number(bytes));
      const writtenBytes = counted.reduce((sum, bytes) => sum + bytes, 0);
      expect(valueOf(details(uid).io).writtenBytes).toBe(writtenBytes);
      if (version === 'v2') expect(writtenBytes).toBeGreaterThanOrEqual(32 * MIB);
      expect(valueOf(details(other).io)).toEqual({ readBytes: 0, writtenBytes: 0 });
      await hasWaited(uid, 'ioStalls');
    });

    test('all pods together are measured from one beat to the next', TEST, async () => {
      const { uids, layout, start } = pods();
      const meter = createGroupMeter(layout);
      meter.measure(performance.now());
      for (const uid of uids) start(uid, BUSY);
      await eventually(() => {
        meter.measure(performance.now());
        const { processCount = 0, cpuNanoCores = 0 } = meter.usages().get('pods') ?? {};
        expect(processCount).toBeGreaterThanOrEqual(uids.length);
        expect(cpuNanoCores).toBeGreaterThan(1e8);
      }, WITHIN);
      meter.close();
    });

    test('tasks are counted with their threads', TEST, async () => {
      const { uids, start } = pods();
      const [uid = '', other = ''] = uids;
      const { pid = 0 } = start(uid, hog(1, 1000));
      await eventually(() => {
        const threads = readdirSync(`/proc/${pid}/task`).length;
        expect(threads).toBeGreaterThan(1);
        expect(valueOf(details(uid).pids)).toEqual({ tasks: threads });
      }, WITHIN);
      expect(valueOf(details(other).pids)).toEqual({ tasks: 0 });
    });

    test(
      'hits of its own limit are counted while the kernel finds pages to give up, with pressure and without a kill',
      TEST,
      async () => {
        const { uids, limitPod, start } = pods();
        const [uid = '', other = ''] = uids;
        limitPod(uid, { memoryBytes: 24 * MIB });
        await once(start(uid, write(96)), 'exit');
        expect(memory(uid).limitBytes).toBe(24 * MIB);
        const { limitHits, oomKills } = valueOf(details(uid).events);
        expect([limitHits > 0, oomKills]).toEqual([true, 0]);
        await hasWaited(uid, 'memoryStalls');
        expect(valueOf(details(other).events)).toEqual({ limitHits: 0, oomKills: 0 });
      },
    );

    test('an OOM kill is counted', TEST, async () => {
      const { uids, limitPod, start } = pods();
      const [uid = ''] = uids;
      limitPod(uid, { memoryBytes: 128 * MIB });
      const exit = await once(start(uid, hog(512, 500)), 'exit');
      expect(exit).toEqual([null, 'SIGKILL']);
      expect(valueOf(details(uid).events).oomKills).toBe(1);
    });
  });
});

function valueOf<T>(answer: Reading<T> | undefined): T {
  if (answer?.kind !== 'reading') throw new Error(answer?.because ?? 'no such pod');
  return answer.value;
}
