import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '#test/build/waiting.ts';
import { type TemporaryTree, temporaryTree } from './observe/temporary-tree.ts';
import { summaryNode } from './summary-node.ts';
import { wirePod } from './wire-node.ts';

const WITHIN = 60_000;
const BOOT_ID = '0d6a1f9e-8a3c-4f44-9a55-2f6f0c1e7b10';
const ENFORCE = { mode: 'Enforce', evictionHard: { 'memory.available': '100Mi' } };
/** The kubelet's figures are as old as a real kubelet's may be. */
const AGE_MS = 9000;

const node = summaryNode();
let proc: TemporaryTree;

function meminfo(totalMiB: number, availableMiB: number): void {
  const kib = (mib: number): string => `${mib * 1024} kB`;
  proc.write(
    'meminfo',
    `MemTotal: ${kib(totalMiB)}\nMemFree: ${kib(availableMiB)}\nMemAvailable: ${kib(availableMiB)}\n`,
  );
}

beforeEach(() => {
  proc = temporaryTree({ 'sys/kernel/random/boot_id': `${BOOT_ID}\n` });
  meminfo(1000, 700);
});
afterEach(() => proc.remove());

/** The kubelet still reports what was available some seconds ago. */
async function start(bootID: string): Promise<void> {
  Object.assign(node, { availableMiB: 700, usageMiB: { hog: 300 }, ageMs: AGE_MS });
  const metadata = { annotations: { 'plimsoll.dev/confirmed-generation': '1' } };
  const pods = [wirePod({ name: 'hog', requestMiB: 10 })];
  await node.start({ pods, policy: ENFORCE, metadata, bootID, flags: [`--path-procfs=${proc.root}`] });
  await eventually(() => expect(node.condition('Memory')).toMatchObject({ status: 'False' }), WITHIN);
}

function signals(): unknown {
  return node.status()?.['signals'];
}

describe('the kernel of the node beside its kubelet’s summary', { timeout: 120_000 }, () => {
  test('decides where the agent runs on that node, while the summary is seconds old', async () => {
    await start(BOOT_ID);
    await eventually(() => expect(signals()).toMatchObject([{ reclaimable: '700Mi', figure: 'Reclaimable' }]), WITHIN);
    meminfo(1000, 40);
    await eventually(() => expect(node.asked()).toEqual(['hog']), WITHIN);
    // Figures of different times are not called equal or different.
    expect(node.condition('FiguresAgree')).toMatchObject({ status: 'Unknown', reason: 'NotCompared' });
  });

  test('is ignored where the Node has another boot id', async () => {
    meminfo(1000, 40);
    await start('another');
    await eventually(async () => expect(await node.passes()).toBeGreaterThan(20), WITHIN);
    expect(signals()).not.toMatchObject([{ reclaimable: expect.anything() as string }]);
    expect(node.asked()).toEqual([]);
  });

  test('is ignored where /proc shows another amount of memory, as in a container with a virtual /proc', async () => {
    meminfo(4000, 40);
    await start(BOOT_ID);
    await eventually(async () => expect(await node.passes()).toBeGreaterThan(20), WITHIN);
    expect(node.asked()).toEqual([]);
  });
});
