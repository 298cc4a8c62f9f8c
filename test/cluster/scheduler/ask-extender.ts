import { expect } from 'vitest';
import { eventually } from '#test/build/waiting.ts';

const PATIENCE_MS = 60_000;
const CONTAINERS = [{ name: 'main' }];

/** Waits until the extender on this port knows a pod on its node: then it no longer takes the node away for it. */
export async function untilKnown(port: number, { node, uid }: { node: string; uid: string }): Promise<void> {
  const metadata = { name: 'probe', namespace: 'default', uid: 'probe' };
  const proposed = { [node]: { Pods: [{ UID: uid }], NumPDBViolations: 0 } };
  const Pod = { metadata, spec: { priority: 1_000_000, containers: CONTAINERS } };
  await eventually(async () => {
    const answer = await ask(port, 'preempt', { Pod, NodeNameToMetaVictims: proposed });
    expect(answer).toHaveProperty(['NodeNameToMetaVictims', node]);
  }, PATIENCE_MS);
}

/** Waits until the extender gives these nodes these scores, for a pod with these owners. */
export async function untilScores(
  port: number,
  scores: Readonly<Record<string, number>>,
  ownerReferences: readonly object[] = [],
): Promise<void> {
  const Pod = { metadata: { namespace: 'default', ownerReferences } };
  await eventually(async () => {
    const answer = await ask(port, 'prioritize', { Pod, NodeNames: Object.keys(scores) });
    const list = answer as readonly { readonly Host: string; readonly Score: number }[];
    expect(Object.fromEntries(list.map(({ Host, Score }) => [Host, Score]))).toEqual(scores);
  }, PATIENCE_MS);
}

async function ask(port: number, verb: string, body: object): Promise<unknown> {
  const answer = await fetch(`http://127.0.0.1:${port}/${verb}`, { method: 'POST', body: JSON.stringify(body) });
  return answer.json();
}
