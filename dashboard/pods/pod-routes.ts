import { Router } from 'express';
import { quote } from '#shared/domain/base/texts.ts';
import { subdomainFaults } from '#shared/domain/labels/label-selector.ts';
import { RequestProblem } from '#shared/http/problem.ts';
import type { Viewer } from '#dashboard/access/viewer.ts';
import { limited, type OnRequestOptions, send } from '#dashboard/on-request.ts';
import { nodeNameIn, podView } from '#dashboard/views/pod.ts';
import { namespaceOf, redactNode, redactText } from '#dashboard/views/redact.ts';
import type { NodeView } from '#dashboard/views/view.ts';
import type { Overview } from './overview.ts';
import { findPods } from './find-pods.ts';

/** Each page of a pod is read from the API server. */
const MAX_AT_ONCE = 8;

/**
 * `/NAMESPACE/NAME`: what is the matter with a pod. `/?text=`: pods by a part of their name. `/overview`: the
 * namespaces and the pods that wait. A viewer gets what the API server would let them list.
 */
export function podRoutes({ sources, viewerOf, clock, signal }: OnRequestOptions): Router {
  const router = Router();
  const atMost = limited(MAX_AT_ONCE, 'too many questions at once; try again');
  const overviewFor = async (viewer: Viewer): Promise<Overview> => visible(await sources.overview(signal), viewer);

  /** As the viewer may see it. */
  async function nodeFor(name: string, viewer: Viewer): Promise<NodeView | undefined> {
    const node = sources.nodes(clock.now()).find((each) => each.name === name);
    if (node === undefined || viewer.seesAll) return node;
    await viewer.learn(node.candidates.map(({ pod }) => namespaceOf(pod)));
    return redactNode(node, viewer.maySee);
  }

  router.get('/', async (request, response) => {
    const viewer = await viewerOf(request, response);
    const { text } = request.query;
    const wanted = typeof text === 'string' ? text : '';
    const { pending } = await overviewFor(viewer);
    const found = await atMost(() => findPods({ text: wanted, pending, sources, viewer, now: clock.now(), signal }));
    send(response, { found });
  });
  router.get('/overview', async (request, response) => {
    const viewer = await viewerOf(request, response);
    send(response, await overviewFor(viewer));
  });
  router.get('/:namespace/:name', async (request, response) => {
    const viewer = await viewerOf(request, response);
    const { namespace, name } = request.params;
    checkName('namespace', namespace);
    checkName('pod', name);
    await viewer.learn([namespace]);
    if (!viewer.maySee(namespace)) throw new RequestProblem(403, mayNotList(viewer, namespace));
    const read = await atMost(() => sources.readPod({ namespace, name }, signal));
    if (read.kind === 'unavailable') throw new RequestProblem(503, `cannot read pod ${name}: ${read.message}`);
    const node = await nodeFor(nodeNameIn(read.evidence.raw), viewer);
    const context = { namespace, evidence: read.evidence, notes: read.notes, figuresOf: sources.podFigures, node };
    send(response, podView(context, viewer.maySee));
  });
  return router;
}

function checkName(what: string, name: string): void {
  if (subdomainFaults(name).length > 0)
    throw new RequestProblem(400, `${what}: expected the name of a ${what}, got ${quote(name)}`);
}

function mayNotList({ user = 'this user' }: Viewer, namespace: string): string {
  return `user ${quote(user)} may not list pods in namespace ${quote(namespace)}: bind the ClusterRole view to it there`;
}

/** Namespaces whose pods the viewer may list, and their pods; reasons name no others. */
async function visible(overview: Overview, viewer: Viewer): Promise<Overview> {
  if (viewer.seesAll) return overview;
  const { namespaces, pending, notes } = overview;
  await viewer.learn([...pending.map(({ pod }) => namespaceOf(pod)), ...namespaces]);
  return {
    namespaces: namespaces.filter(viewer.maySee),
    pending: pending
      .filter(({ pod }) => viewer.maySee(namespaceOf(pod)))
      .map((each) => ({ ...each, why: redactText(each.why, viewer.maySee) })),
    notes,
  };
}
