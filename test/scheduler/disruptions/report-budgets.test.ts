import { expect, test } from 'vitest';
import { createBudgetReport } from '#scheduler/disruptions/report-budgets.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { SharedStreams } from '#shared/kube/reflector/shared-streams.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createLog } from '#shared/runtime/log.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';

const FORBIDDEN = { kind: 'forbidden', message: 'may not' } as Outcome<unknown>;
const LIST = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudgetList',
  metadata: { resourceVersion: '1' },
  items: [],
};
const POLICY = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'DisruptionPolicy', metadata: { name: 'plimsoll' } };

function ok(object: unknown): Outcome<unknown> {
  return { kind: 'ok', warnings: [], object };
}

/** Reports `rounds` times, ten seconds apart; returns the lines of the log. */
async function linesOf(rounds: number, answer: (method: string, round: number) => Outcome<unknown>) {
  const clock = manualClock();
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog({ component: 'test', level: 'info', format: 'json', destination });
  let round = 0;
  const { client } = scriptedClient(({ method = 'GET', path, query }) => {
    if (!path.includes('poddisruptionbudgets')) return answer(method, round);
    return query?.['watch'] === undefined ? ok(LIST) : ok({});
  });
  const streams = new SharedStreams();
  const metrics = createMetrics('scheduler');
  const report = createBudgetReport({ client, clock, log, random: () => 0, metrics, streams });
  const ended = new AbortController();
  const running = streams.run(ended.signal);
  for (; round < rounds; round += 1) {
    await clock.advance(11_000);
    await report.report(true, ended.signal);
  }
  ended.abort();
  await running;
  return lines.filter((line) => line.includes('Budgets that forbid')).map((line) => JSON.parse(line) as object);
}

test.each(['GET', 'PATCH'])(
  'a %s that the API server refuses is logged once, and once when it works',
  async (refused) => {
    const lines = await linesOf(6, (method, round) => (method === refused && round < 4 ? FORBIDDEN : ok(POLICY)));
    expect(lines).toMatchObject([
      { level: 'warn', fault: 'forbidden', message: 'may not', object: 'DisruptionPolicy plimsoll' },
      { level: 'info', msg: 'Budgets that forbid every eviction not reported: resolved' },
    ]);
  },
);

test('a policy that is gone is no fault', async () => {
  expect(await linesOf(3, () => ({ kind: 'notFound', message: 'gone' }))).toEqual([]);
});
