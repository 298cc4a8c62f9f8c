import { afterAll, describe, expect, test } from 'vitest';
import { type DemoProcess, startProcess } from '#sandbox/node/containers/start-process.ts';
import {
  createListedSource,
  type ListedProcess,
  firstToList,
  openProcessSource,
  PROCESS_SOURCES,
  type ProcessSource,
} from '#sandbox/node/processes/process-source.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { untilAnswer } from '#test/build/waiting.ts';

const MEBIBYTE = 1024 * 1024;
const TIMEOUT_MS = 60_000;
const NO_PROCESS = 2 ** 22 + 1;
const started: DemoProcess[] = [];

afterAll(async () => {
  for (const demo of started) demo.kill('SIGKILL');
  await Promise.all(started.map(({ ended }) => ended));
});

/** A demo process that holds so much and uses so much CPU; resolves when it holds it. */
async function demoProcess(holdsMi: number, milliCpu: number): Promise<DemoProcess> {
  const parameters = { image: 'test', memoryBytes: holdsMi * MEBIBYTE, growBytesPerSecond: 0, mostBytes: 0 };
  const { promise: isUp, resolve } = Promise.withResolvers<undefined>();
  const rest = { milliCpu, exitCode: 0, ignoresTerm: false };
  const demo = await startProcess({ ...parameters, ...rest }, () => resolve(undefined));
  started.push(demo);
  await isUp;
  return demo;
}

/** Reads until the answer is as wanted; the test's own timeout is the deadline. */
async function readUntil(
  source: ProcessSource,
  pids: readonly number[],
  isWanted: (usages: Awaited<ReturnType<ProcessSource['read']>>) => boolean,
) {
  return untilAnswer(() => source.read(pids), isWanted);
}

describe.each(PROCESS_SOURCES)('the process source %s', (name) => {
  test('tells what a process holds, whatever Node itself takes', { timeout: TIMEOUT_MS }, async () => {
    const source = await openProcessSource(name, systemClock);
    const [small, large] = [await demoProcess(20, 0), await demoProcess(120, 0)];
    const usedMi = (pid: number, usages: Awaited<ReturnType<ProcessSource['read']>>): number =>
      (usages.get(pid)?.workingSetBytes ?? 0) / MEBIBYTE;
    const usages = await readUntil(source, [small.pid, large.pid], (each) => usedMi(large.pid, each) >= 115);
    expect(usedMi(small.pid, usages)).toBeGreaterThan(15);
    expect(usedMi(small.pid, usages)).toBeLessThan(40);
    expect(usedMi(large.pid, usages)).toBeLessThan(140);
    expect(usages.get(large.pid)?.rssBytes).toBeGreaterThan(usages.get(large.pid)?.workingSetBytes ?? Infinity);
  });

  test('counts the CPU time of a busy process, and hardly any of an idle one', { timeout: TIMEOUT_MS }, async () => {
    const source = await openProcessSource(name, systemClock);
    const [idle, busy] = [await demoProcess(0, 0), await demoProcess(0, 500)];
    const seconds = (pid: number, usages: Awaited<ReturnType<ProcessSource['read']>>): number =>
      (usages.get(pid)?.cpuNanoSeconds ?? 0) / 1e9;
    const usages = await readUntil(source, [idle.pid, busy.pid], (each) => seconds(busy.pid, each) > 0.4);
    expect(seconds(idle.pid, usages)).toBeLessThan(0.5 * seconds(busy.pid, usages));
  });

  test('leaves out processes that are gone or were never there', { timeout: TIMEOUT_MS }, async () => {
    const source = await openProcessSource(name, systemClock);
    const demo = await demoProcess(0, 0);
    const usages = await readUntil(source, [demo.pid, NO_PROCESS], (each) => each.size > 0);
    expect([...usages.keys()]).toEqual([demo.pid]);
    demo.kill('SIGKILL');
    await demo.ended;
    await readUntil(source, [demo.pid], (each) => each.size === 0);
  });
});

describe('createListedSource', () => {
  function setUp(...lists: readonly (readonly ListedProcess[])[]) {
    let [now, next] = [0, 0];
    const list = () => Promise.resolve(lists[next++] ?? []);
    const clock = { monotonic: () => now };
    const source = createListedSource({ name: 'test', list, idleRssBytes: 40, clock });
    return { source, at: (ms: number) => (now = ms) };
  }

  test('adds up CPU use over the time between two readings, and forgets what is gone', async () => {
    const busy = { pid: 7, rssBytes: 100, cores: 0.5 };
    const { source, at } = setUp([busy], [busy], [{ ...busy, pid: 8 }], [busy]);
    expect((await source.read([7])).get(7)).toEqual({ workingSetBytes: 60, rssBytes: 100, cpuNanoSeconds: 0 });
    at(1_000);
    expect((await source.read([7])).get(7)?.cpuNanoSeconds).toBe(500_000_000);
    at(2_000);
    expect(await source.read([7])).toEqual(new Map());
    at(3_000);
    expect((await source.read([7])).get(7)?.cpuNanoSeconds).toBe(0);
  });

  test('one that holds less than an idle process uses nothing, and one that has ended is left out', async () => {
    const { source } = setUp([
      { pid: 7, rssBytes: 30, cores: 0 },
      { pid: 8, rssBytes: 0, cores: 0 },
    ]);
    const nothing = { workingSetBytes: 0, rssBytes: 30, cpuNanoSeconds: 0 };
    expect(await source.read([7, 8])).toEqual(new Map([[7, nothing]]));
  });

  test('an empty list is a failure, not a node without processes', async () => {
    const { source } = setUp([]);
    await expect(source.read([7])).rejects.toThrow('cannot measure processes: test lists none');
  });
});

describe('firstToList', () => {
  const listed = [{ pid: 7, rssBytes: 1, cores: 0 }];
  test.each([
    ['fails', () => Promise.reject(new Error('no ps'))],
    ['lists nothing', () => Promise.resolve([])],
  ])('takes the second where the first %s', async (_, first) => {
    expect(await firstToList(first, () => Promise.resolve(listed))()).toBe(listed);
  });

  test('does not ask the second where the first lists processes', async () => {
    const second = () => Promise.reject(new Error('was asked'));
    expect(await firstToList(() => Promise.resolve(listed), second)()).toBe(listed);
  });
});
