import { describe, expect, test } from 'vitest';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createNodeMetrics, createAnnouncer, writeFenced } from '#scheduler/nodes/pass-ports.ts';

const DONE: Outcome<unknown> = { kind: 'ok', object: {}, warnings: [] };

/** One write through the fence, and what was seen of it. */
async function tryToWrite({ isHeld = true, isWithinRate = true, isStopped = false, outcome = DONE }) {
  const metrics = createMetrics('scheduler');
  const seen = { tries: 0, taken: 0, warnings: 0 };
  const write = (): Promise<Outcome<unknown>> => {
    seen.tries += 1;
    return Promise.resolve(outcome);
  };
  const ports = {
    metrics: createNodeMetrics(metrics),
    log: { warn: () => (seen.warnings += 1) },
    term: { isHeld: () => isHeld },
    budgets: { nodes: { take: () => ((seen.taken += 1), isWithinRate) } },
  } as unknown as Parameters<typeof writeFenced>[0];
  const signal = isStopped ? AbortSignal.abort() : new AbortController().signal;
  const isWritten = await writeFenced(ports, { object: 'taints', name: 'n1' }, write, signal);
  return { ...seen, isWritten, text: await metrics.text() };
}

describe('writeFenced', () => {
  test('writes while the lease is held and counts the outcome', async () => {
    const seen = await tryToWrite({});
    expect(seen).toMatchObject({ isWritten: true, tries: 1, warnings: 0 });
    expect(seen.text).toContain('plimsoll_scheduler_node_writes_total{object="taints",outcome="ok"} 1');
  });

  test('a leader whose lease has run out writes nothing', async () => {
    expect(await tryToWrite({ isHeld: false })).toMatchObject({ isWritten: false, tries: 0 });
  });

  test('a pass that was stopped writes nothing and takes nothing from the rate', async () => {
    expect(await tryToWrite({ isStopped: true })).toMatchObject({ isWritten: false, tries: 0, taken: 0 });
  });

  test('beyond the rate nothing is written', async () => {
    expect(await tryToWrite({ isWithinRate: false })).toMatchObject({ isWritten: false, tries: 0 });
  });

  test('a conflict is expected, a refusal is logged', async () => {
    const conflict = await tryToWrite({ outcome: { kind: 'conflict', message: 'changed' } });
    expect(conflict).toMatchObject({ isWritten: false, warnings: 0 });
    const refusal = await tryToWrite({ outcome: { kind: 'forbidden', message: 'no' } });
    expect(refusal).toMatchObject({ isWritten: false, warnings: 1 });
  });
});

describe('createAnnouncer', () => {
  test('logs a decision once while it stands, and again when it comes back', () => {
    const said: string[] = [];
    const announce = createAnnouncer({ info: (fields: object) => said.push((fields as { text: string }).text) });
    for (const texts of [['a'], ['a', 'b'], ['b'], ['a', 'b']]) announce('taints', texts);
    announce('avoid', ['a']);
    expect(said).toEqual(['a', 'b', 'a', 'a']);
  });
});
