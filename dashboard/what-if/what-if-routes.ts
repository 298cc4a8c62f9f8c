import { Router } from 'express';
import { RequestProblem } from '#shared/http/problem.ts';
import { quote } from '#shared/domain/base/texts.ts';
import { nextTurn } from '#shared/runtime/turns/turns.ts';
import type { Viewer } from '#dashboard/access/viewer.ts';
import { limited, type OnRequestOptions, send } from '#dashboard/on-request.ts';
import { answerToPod, answerToPressure, redactPodAnswer, redactPressure } from './answer.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { podAsked, pressureAsked } from './question.ts';
import type { SimulatedNode } from './read-node.ts';

/** Each simulation reads a node from the API server. */
const MAX_AT_ONCE = 4;

/**
 * `/pressure`: which pods of a node would be evicted with less available, or with another threshold. `/pod`: which of
 * its pods would be preempted for one more pod. Both read, decide and answer, and write nothing.
 */
export function whatIfRoutes({ sources, viewerOf, clock, signal }: OnRequestOptions<'readNode'>): Router {
  const router = Router();
  const atMost = limited(MAX_AT_ONCE, 'too many simulations at once; try again');
  const nodeFor = (name: string, viewer: Viewer): Promise<SimulatedNode> =>
    atMost(async () => {
      const read = await sources.readNode(name, signal);
      if (read.kind === 'notFound') throw new RequestProblem(404, `node: ${quote(name)} not found`);
      if (read.kind === 'unavailable') throw new RequestProblem(503, `cannot simulate: ${read.message}`);
      await viewer.learn(new Set(read.node.pods.map(({ namespace }) => namespace)));
      return read.node;
    });

  router.get('/pressure', async (request, response) => {
    const viewer = await viewerOf(request, response);
    const asked = usable(pressureAsked(request.query));
    const node = await nodeFor(asked.node, viewer);
    const answer = await decideInTurns(() => usable(answerToPressure(asked, node, clock.now())));
    send(response, viewer.seesAll ? answer : redactPressure(answer, viewer.maySee));
  });
  router.get('/pod', async (request, response) => {
    const viewer = await viewerOf(request, response);
    const asked = usable(podAsked(request.query));
    const node = await nodeFor(asked.node, viewer);
    const answer = await decideInTurns(() => usable(answerToPod(asked, node, clock.now())));
    send(response, viewer.seesAll ? answer : redactPodAnswer(answer, viewer.maySee));
  });
  return router;
}

/** Reading, deciding and answering take one turn of the event loop each. */
async function decideInTurns<T>(decide: () => () => T): Promise<T> {
  await nextTurn();
  const answer = decide();
  await nextTurn();
  return answer();
}

/** Throws with the name of the invalid field. */
function usable<T>(asked: Decoded<T>): T {
  if (asked.ok) return asked.value;
  throw new RequestProblem(400, `${asked.field}: ${asked.message}`);
}
