import type { Fate, gangLoop } from '#test/scheduler/queues/gang-loop.ts';
import { randomSource } from '#test/fakes/random-source.ts';

/** Of the writes, so that a leader ends about once a minute. */
const FATAL = 0.01;
const LOST = 0.01;
/** In each second. */
const SCHEDULER_RESTARTS = 1 / 60;
const NODE_GOES = 1 / 90;
const AWAY_SECONDS = 120;

/** Leaders and kube-schedulers are killed, writes are lost, and nodes go and come until the horizon. */
export function drawFaults(seed: number, nodes: ReadonlyMap<string, number>, horizon: number) {
  const random = randomSource(seed);
  const away = new Map<number, string>();
  let isOver = false;
  return {
    fateOf: (): Fate => ({
      isFatal: !isOver && random.chance(FATAL),
      failure: !isOver && random.chance(LOST) ? 'timeout' : undefined,
    }),
    onSecond: (
      loop: Pick<ReturnType<typeof gangLoop>, 'restartScheduler' | 'loseNode' | 'addNode'>,
      second: number,
    ) => {
      isOver = second >= horizon;
      const back = away.get(second);
      if (back !== undefined) loop.addNode(back, nodes.get(back) ?? 0);
      away.delete(second);
      if (!isOver && random.chance(SCHEDULER_RESTARTS)) loop.restartScheduler();
      if (isOver || !random.chance(NODE_GOES)) return;
      const there = [...nodes.keys()].filter((node) => ![...away.values()].includes(node));
      const lost = random.pick(there);
      away.set(second + AWAY_SECONDS, lost);
      loop.loseNode(lost);
    },
  };
}
