/**
 * How long the leader of the queues takes for a pass over 1,000 queues in three levels, 50,000 waiting and 150,000 running
 * pods on 5,000 full nodes, for a report (statuses and Events), and for a round of reclaim that seeks room for twenty pods;
 * each as it runs in the process, with the shipped slices, and nothing sent to an API server. `writesOfMinute` is what is
 * written because pods wait, in a minute in which none may go in; a pod has an Event after 1, 10 and 60 minutes. JSON on stdout, times in milliseconds; `longestTurn` is the longest that the event loop is held. BENCH_NODES sets the size.
 */
import { quantile, rounded } from '#bench/shared/support/quantile.ts';
import { sizeOf } from './support/queue-cluster.ts';
import { openQueueWork, timeTurns } from './support/queue-work.ts';

const NODES = Number(process.env['BENCH_NODES'] ?? 5_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 15);
const GOALS = { pass: 250, longestTurn: 20, podsAndQueues: 0 };

async function measure(work: () => Promise<unknown>) {
  await work();
  const all = [];
  for (let round = 0; round < ROUNDS; round += 1) all.push(await timeTurns(work));
  const of = (times: readonly number[]) => ({
    p50: rounded(quantile(times, 0.5), 1),
    p99: rounded(quantile(times, 0.99), 1),
  });
  return {
    totalMs: of(all.map(({ totalMs }) => totalMs)),
    cpuMs: of(all.map(({ cpuMs }) => cpuMs)),
    longestTurnMs: of(all.map(({ longestMs }) => longestMs)),
  };
}

const size = sizeOf(NODES);
const work = openQueueWork(size);
const plan = await work.pass();
const results = {
  pass: await measure(work.pass),
  report: await measure(() => work.report(plan)),
  reclaim: await measure(() => work.reclaim(plan)),
  writesOfMinute: await work.writesOfMinute(),
};
const found = { letIn: plan.letIn.length, seeking: plan.seeking.length, held: plan.held.length };
console.log(
  JSON.stringify({ bench: 'queue-pass', ...size, rounds: ROUNDS, goals: GOALS, found, ...results }, undefined, 2),
);
