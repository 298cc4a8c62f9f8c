import { afterEach, describe, expect, test } from 'vitest';
import type { CgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { cpuCgroupSource, ioCgroupSource, pidsCgroupSource } from '#agent/observe/cgroup/cgroup-details.ts';
import { vmstatSource, nodeCpuSource, processCountSource } from '#agent/observe/node/kernel-activity.ts';
import { meminfoSource, podsMemorySource } from '#agent/observe/node/kernel-memory.ts';
import { memoryCgroupSource, nodeMemorySource, memoryEventsSource } from '#agent/observe/cgroup/memory-cgroup.ts';
import type { Source } from '#agent/observe/source/source.ts';
import { stallSource } from '#agent/observe/source/stall-meter.ts';
import { type TemporaryTree, temporaryTree } from './temporary-tree.ts';

let tree: TemporaryTree | undefined;
afterEach(() => tree?.remove());

function v1(root: string): CgroupLayout {
  return {
    version: 'v1',
    driver: 'cgroupfs',
    kubepods: 'kubepods',
    memory: `${root}/memory`,
    cpu: `${root}/cpu`,
    cpuAccounting: `${root}/cpuacct`,
    pids: `${root}/pids`,
    io: `${root}/blkio`,
    pressure: `${root}/unified`,
  };
}

function v2(root: string): CgroupLayout {
  const trees = { memory: root, cpu: root, cpuAccounting: root, pids: root, io: root, pressure: root };
  return { version: 'v2', driver: 'cgroupfs', kubepods: 'kubepods', ...trees };
}

interface SourceCase {
  readonly files: Record<string, string>;
  readonly source: (root: string) => Source<unknown>;
  readonly expected: (root: string) => unknown;
}

const value = (content: object) => () => ({ kind: 'reading', value: content });
const failed = (because: (root: string) => string) => (root: string) => ({ kind: 'failed', because: because(root) });
const absent = (because: (root: string) => string) => (root: string) => ({ kind: 'absent', because: because(root) });

/** Its /proc/stat, years after boot, when the numbers are wide. */
const largeMachine = (processors: number): SourceCase => {
  const lines = Array.from({ length: processors }, (_, cpu) => `cpu${cpu}${' 3155760000'.repeat(10)}\n`).join('');
  return {
    files: { stat: `cpu  9876543210123 1 1 5655121920000 60 1 1 1 1 1\n${lines}intr ${'0 '.repeat(1_000)}\n` },
    source: nodeCpuSource,
    expected: value({ busySeconds: 98_765_432_101.28, processors }),
  };
};

const cases: Record<string, SourceCase> = {
  'meminfo in bytes': {
    files: {
      meminfo:
        'MemTotal: 1000 kB\nMemAvailable: 500 kB\nActive(file): 20 kB\nInactive(file): 10 kB\nDirty: 4 kB\nWriteback: 1 kB\nHugetlb: 2 kB\n',
    },
    source: meminfoSource,
    expected: value({
      totalBytes: 1024000,
      availableBytes: 512000,
      fileBytes: 30720,
      unwrittenBytes: 5120,
      hugePageBytes: 2048,
    }),
  },
  'meminfo without page cache lines': {
    files: { meminfo: 'MemTotal: 1000 kB\nMemAvailable: 500 kB\nDirty: 4 kB\n' },
    source: meminfoSource,
    expected: value({ totalBytes: 1024000, availableBytes: 512000, fileBytes: 0, unwrittenBytes: 0, hugePageBytes: 0 }),
  },
  'v2 memory of all pods': {
    files: {
      'kubepods/memory.current': '1000\n',
      'kubepods/memory.max': '2000\n',
      'kubepods/memory.stat':
        'anon 5\nfile_dirty 7\nfile_writeback 3\ninactive_file 400\nactive_file 100\nslab_reclaimable 50\n',
    },
    source: (root) => podsMemorySource(v2(root)),
    expected: value({
      usageBytes: 1000,
      limitBytes: 2000,
      workingSetBytes: 600,
      fileBytes: 500,
      unwrittenBytes: 10,
      reclaimableSlabBytes: 50,
    }),
  },
  'v1 memory of all pods, whose stat has no slab': {
    files: {
      'memory/kubepods/memory.usage_in_bytes': '1000\n',
      'memory/kubepods/memory.limit_in_bytes': '9223372036854771712\n',
      'memory/kubepods/memory.stat':
        'inactive_file 1\ntotal_dirty 7\ntotal_writeback 3\ntotal_inactive_file 400\ntotal_active_file 100\n',
    },
    source: (root) => podsMemorySource(v1(root)),
    expected: value({
      usageBytes: 1000,
      limitBytes: Number.POSITIVE_INFINITY,
      workingSetBytes: 600,
      fileBytes: 500,
      unwrittenBytes: 10,
      reclaimableSlabBytes: 0,
    }),
  },
  'memory of all pods without inactive_file is a failure': {
    files: { 'kubepods/memory.current': '5\n', 'kubepods/memory.max': 'max\n', 'kubepods/memory.stat': 'anon 1\n' },
    source: (root) => podsMemorySource(v2(root)),
    expected: failed(
      (root) => `cannot use ${root}/kubepods: expected memory.current and the inactive file cache in memory.stat`,
    ),
  },
  'a MemTotal of 0 is a failure, not a full node (B-37)': {
    files: { meminfo: 'MemTotal: 0 kB\nMemAvailable: 0 kB\n' },
    source: meminfoSource,
    expected: failed((root) => `cannot use ${root}/meminfo: MemTotal is 0, expected kB above 0`),
  },
  'meminfo without MemAvailable': {
    files: { meminfo: 'MemTotal: 1 kB\n' },
    source: meminfoSource,
    expected: failed((root) => `cannot use ${root}/meminfo: no MemAvailable`),
  },
  'vmstat counters; one that the kernel lacks is unknown': {
    files: { vmstat: 'pgsteal_kswapd 4\npgsteal_direct 1\npgmajfault 7\nworkingset_refault_file 3\noom_kill 2\n' },
    source: vmstatSource,
    expected: value({
      oomKills: 2,
      refaults: 3,
      scans: Number.NaN,
      steals: 5,
      swapIns: Number.NaN,
    }),
  },
  'an empty vmstat': {
    files: { vmstat: '' },
    source: vmstatSource,
    expected: failed(
      (root) =>
        `cannot use ${root}/vmstat: none of oom_kill, workingset_refault_file, workingset_refault_anon, workingset_refault, pgscan_direct, pgscan_kswapd, pgsteal_direct, pgsteal_kswapd, pswpin is there`,
    ),
  },
  'no PSI on this kernel is absent, not zero': {
    files: {},
    source: (root) => stallSource('node', `${root}/pressure`, 'memory'),
    expected: absent((root) => `cannot read ${root}/pressure/memory: ENOENT`),
  },
  'a pressure file without a some line': {
    files: { memory: 'full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n' },
    source: (root) => stallSource('node', root, 'memory'),
    expected: failed((root) => `cannot use ${root}/memory: no some line with a total`),
  },
  'tasks and the most there may be': {
    files: {
      loadavg: '0.83 1.36 1.51 1/213 27400\n',
      'sys/kernel/pid_max': '32768\n',
      'sys/kernel/threads-max': '9000\n',
    },
    source: processCountSource,
    expected: value({ tasks: 213, most: 9000 }),
  },
  'a loadavg without tasks': {
    files: { loadavg: '0.83 1.36\n', 'sys/kernel/pid_max': '32768\n', 'sys/kernel/threads-max': '9000\n' },
    source: processCountSource,
    expected: failed((root) => `cannot use ${root}/loadavg: expected running/tasks in the fourth field`),
  },
  'pid_max that cannot be read': {
    files: { loadavg: '0.83 1.36 1.51 1/213 27400\n', 'sys/kernel/threads-max': '9000\n' },
    source: processCountSource,
    expected: failed((root) => `cannot use ${root}/sys/kernel: expected numbers in pid_max and threads-max`),
  },
  'busy time is all but idle and waiting for disks': {
    files: { stat: 'cpu  100 20 300 5000 60 7 8 9 1 1\ncpu0 1 1 1 1 1 1 1 1 1 1\ncpu1 1 1 1 1 1 1 1 1 1 1\nintr 5\n' },
    source: nodeCpuSource,
    expected: value({ busySeconds: 4.44, processors: 2 }),
  },
  'the largest machine that can be bought': largeMachine(1_792),
  'the largest that Linux knows': largeMachine(8_192),
  'a stat file without cpu lines': {
    files: { stat: 'intr 5\n' },
    source: nodeCpuSource,
    expected: failed((root) => `cannot use ${root}/stat: expected cpu lines with eight numbers`),
  },
  'v1 memory counts usage minus inactive file cache of the whole subtree': {
    files: {
      'memory/a/memory.usage_in_bytes': '1000\n',
      'memory/a/memory.limit_in_bytes': '9223372036854771712\n',
      'memory/a/memory.stat': 'inactive_file 1\ntotal_inactive_file 400\n',
    },
    source: (root) => memoryCgroupSource(v1(root), 'a'),
    expected: value({ usageBytes: 1000, workingSetBytes: 600, limitBytes: Number.POSITIVE_INFINITY }),
  },
  'v2 memory with a limit': {
    files: { 'a/memory.current': '1000\n', 'a/memory.max': '2000\n', 'a/memory.stat': 'anon 5\ninactive_file 400\n' },
    source: (root) => memoryCgroupSource(v2(root), 'a'),
    expected: value({ usageBytes: 1000, workingSetBytes: 600, limitBytes: 2000 }),
  },
  'more inactive cache than usage is a working set of 0, as the kubelet has it': {
    files: { 'a/memory.current': '10\n', 'a/memory.stat': 'inactive_file 400\n' },
    source: (root) => memoryCgroupSource(v2(root), 'a'),
    expected: value({ usageBytes: 10, workingSetBytes: 0, limitBytes: Number.POSITIVE_INFINITY }),
  },
  'a usage of max is a failure': {
    files: { 'a/memory.current': 'max\n', 'a/memory.stat': 'inactive_file 400\n' },
    source: (root) => memoryCgroupSource(v2(root), 'a'),
    expected: failed((root) => `cannot use ${root}/a/memory.current: expected a number of bytes`),
  },
  'a memory.stat without inactive_file is a failure': {
    files: { 'a/memory.current': '5\n', 'a/memory.stat': 'anon 1\n' },
    source: (root) => memoryCgroupSource(v2(root), 'a'),
    expected: failed((root) => `cannot use ${root}/a/memory.stat: no inactive_file`),
  },
  'a group that is gone is absent, not 0': {
    files: {},
    source: (root) => memoryCgroupSource(v2(root), 'a'),
    expected: absent((root) => `cannot read ${root}/a/memory.current: ENOENT`),
  },
  'the root of v2 uses anon and file': {
    files: { 'memory.stat': 'anon 100\nfile 50\nkernel 9\ninactive_file 20\n' },
    source: (root) => nodeMemorySource(v2(root)),
    expected: value({ usageBytes: 150, workingSetBytes: 130, limitBytes: Number.POSITIVE_INFINITY }),
  },
  'the root of v2 without file': {
    files: { 'memory.stat': 'anon 100\n' },
    source: (root) => nodeMemorySource(v2(root)),
    expected: failed((root) => `cannot use ${root}/memory.stat: expected anon, file, inactive_file`),
  },
  'v2 limit hits and OOM kills': {
    files: { 'a/memory.events': 'low 0\nhigh 0\nmax 121061\noom 0\noom_kill 4\noom_group_kill 0\n' },
    source: (root) => memoryEventsSource(v2(root), 'a'),
    expected: value({ limitHits: 121061, oomKills: 4 }),
  },
  'v2 throttling at memory.high is the pod’s own limit, too': {
    files: { 'a/memory.events': 'low 0\nhigh 52\nmax 3\noom 0\noom_kill 0\noom_group_kill 0\n' },
    source: (root) => memoryEventsSource(v2(root), 'a'),
    expected: value({ limitHits: 55, oomKills: 0 }),
  },
  'v1 limit hits and OOM kills': {
    files: {
      'memory/a/memory.failcnt': '5\n',
      'memory/a/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n',
    },
    source: (root) => memoryEventsSource(v1(root), 'a'),
    expected: value({ limitHits: 5, oomKills: 1 }),
  },
  'v2 cpu in seconds': {
    files: { 'a/cpu.stat': 'usage_usec 1500000\nuser_usec 1\nthrottled_usec 250000\n' },
    source: (root) => cpuCgroupSource(v2(root), 'a'),
    expected: value({ usageSeconds: 1.5, throttledSeconds: 0.25 }),
  },
  'v1 cpu in seconds from two trees': {
    files: {
      'cpuacct/a/cpuacct.usage': '4500000000\n',
      'cpu/a/cpu.stat': 'nr_throttled 5\nthrottled_time 500000000\n',
    },
    source: (root) => cpuCgroupSource(v1(root), 'a'),
    expected: value({ usageSeconds: 4.5, throttledSeconds: 0.5 }),
  },
  'a node without cpu accounting': {
    files: {},
    source: (root) => cpuCgroupSource({ ...v1(root), cpuAccounting: undefined }, 'a'),
    expected: absent(() => 'this node has no cpu accounting tree'),
  },
  'tasks of a group': {
    files: { 'a/pids.current': '13\n' },
    source: (root) => pidsCgroupSource(v2(root), 'a'),
    expected: value({ tasks: 13 }),
  },
  'tasks that are no number': {
    files: { 'a/pids.current': 'max\n' },
    source: (root) => pidsCgroupSource(v2(root), 'a'),
    expected: failed((root) => `cannot use ${root}/a/pids.current: expected a number`),
  },
  'v2 bytes of all devices': {
    files: {
      'a/io.stat':
        '254:0 rbytes=100 wbytes=7 rios=1 wios=1 dbytes=0 dios=0\n8:0 rbytes=1 wbytes=2 rios=1 wios=1\n259:0 \n',
    },
    source: (root) => ioCgroupSource(v2(root), 'a'),
    expected: value({ readBytes: 101, writtenBytes: 9 }),
  },
  'v1 bytes of all devices': {
    files: {
      'blkio/a/blkio.throttle.io_service_bytes_recursive':
        '254:0 Read 100\n254:0 Write 7\n254:0 Sync 0\n254:0 Total 107\n8:0 Read 1\n8:0 Write 2\nTotal 110\n',
    },
    source: (root) => ioCgroupSource(v1(root), 'a'),
    expected: value({ readBytes: 101, writtenBytes: 9 }),
  },
};

describe('each source', () => {
  test.each(Object.entries(cases))('%s', (_sentence, { files, source, expected }) => {
    tree = temporaryTree(files);
    const opened = source(tree.root);
    expect(opened.read()).toEqual(expected(tree.root));
    expect(opened.read()).toEqual(expected(tree.root));
    opened.close();
  });
});
