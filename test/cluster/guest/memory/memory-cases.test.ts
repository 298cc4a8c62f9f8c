import { beforeAll, describe, expect, test } from 'vitest';
import { findGuestTools, neededTools, whyNoGuest } from '#test/cluster/guest/image/find-guest-tools.ts';
import type { MemoryOutcome } from './memory-cases-main.ts';
import { inPayload } from '#test/cluster/guest/image/pack-payload.ts';
import { runInGuest } from '#test/cluster/guest/run/run-in-guest.ts';

const MAIN = new URL('./memory-cases-main.ts', import.meta.url);
const MEMORY_MIB = 1536;
/** The hard threshold on `memory.available` that holds without any policy. */
const THRESHOLD_MIB = 250;
/** A busy machine takes minutes for what an idle one does in one. */
const TIMEOUT_MS = 720_000;

const tools = findGuestTools();
const reason = whyNoGuest(tools);

describe.skipIf(reason !== undefined)(`the whole memory of a node${reason ?? ' (a guest)'}`, () => {
  let outcomes: Readonly<Record<string, MemoryOutcome>>;

  beforeAll(async () => {
    const program = { command: ['node', inPayload(MAIN)], memoryMiB: MEMORY_MIB, timeoutMs: TIMEOUT_MS };
    const { status, stdout, console } = await runInGuest(neededTools(tools), program);
    if (status !== 0) throw new Error(`the cases ended with ${status}: ${console.slice(-2000)}`);
    outcomes = JSON.parse(stdout) as typeof outcomes;
  }, TIMEOUT_MS + 20_000);

  function outcome(name: string): MemoryOutcome {
    const found = outcomes[name];
    if (found === undefined) throw new Error(`there is no case ${name}`);
    return found;
  }

  test('page cache is no shortage: a pod that reads a file as large as the memory stays', () => {
    const { evicted, oomKills, least } = outcome('pageCache');
    expect([evicted, oomKills]).toEqual([[], 0]);
    expect(least.kubeletMiB).toBeLessThan(THRESHOLD_MIB);
    expect(least.memAvailableMiB).toBeGreaterThan(2 * THRESHOLD_MIB);
  });

  test('by the figure of the kubelet the same pod would go', () => {
    const { evicted, atFirstEviction } = outcome('pageCacheByKubelet');
    expect(evicted).toEqual(['busy']);
    expect(atFirstEviction?.memAvailableMiB).toBeGreaterThan(2 * THRESHOLD_MIB);
  });

  test.each(['hugePages', 'sockets'])('%s are a shortage: the agent acts before the kernel kills', (name) => {
    const { evicted, oomKills, atFirstEviction } = outcome(name);
    expect([evicted, oomKills]).toEqual([['busy'], 0]);
    expect(atFirstEviction?.memAvailableMiB).toBeLessThan(THRESHOLD_MIB);
    expect(atFirstEviction?.kubeletMiB).toBeGreaterThan(1.5 * THRESHOLD_MIB);
  });

  test('by the figure of the kubelet huge pages are none, and the kernel kills', () => {
    const { evicted, oomKills, least } = outcome('hugePagesByKubelet');
    expect(evicted).toEqual([]);
    expect(oomKills).toBeGreaterThan(0);
    expect(least.kubeletMiB).toBeGreaterThan(1.5 * THRESHOLD_MIB);
  });

  test('data in memory is used although its writer has ended: its pod goes, and the kernel does not kill', () => {
    const { evicted, oomKills, atFirstEviction } = outcome('tmpfs');
    expect([evicted, oomKills]).toEqual([['busy'], 0]);
    expect(atFirstEviction?.memAvailableMiB).toBeLessThan(THRESHOLD_MIB);
  });
});
