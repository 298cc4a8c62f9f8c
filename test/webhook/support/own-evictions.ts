import type { StoredObject } from '#test/fakes/stored-objects.ts';
import { pod, readAnswer, review, type Answer } from './reviews.ts';
import { PODS, type RunningWebhook } from './webhook-process.ts';

export const AGENT = 'system:serviceaccount:plimsoll-node:plimsoll-agent';
export const NODE_CLAIM = 'authentication.kubernetes.io/node-name';
const RUNNING = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };

/** Who asks for an eviction, and with what; the agent of `node-a` unless said otherwise. */
export interface Asked {
  readonly username?: string;
  readonly node?: string;
  readonly extra?: object;
  readonly dryRun?: boolean;
  readonly options?: object;
  /** Of the Eviction. */
  readonly annotations?: object;
}

/** Puts running pods on nodes, and sends the webhook the evictions that our own accounts ask for. */
export function ownEvictions(webhook: () => RunningWebhook) {
  let made = 0;

  function given(nodeName: string, more: object = {}, metadata: object = {}): StoredObject {
    const name = `p${(made += 1)}`;
    const running = pod({ nodeName }, { name, uid: `uid-${name}`, ...metadata }) as StoredObject;
    const victim = { ...running, status: RUNNING, ...more };
    webhook().api.put(PODS, victim);
    return victim;
  }

  async function evict(victim: StoredObject, asked: Asked = {}): Promise<Answer & { readonly raw: string }> {
    const { username = AGENT, node = 'node-a', dryRun = false, options = {} } = asked;
    const { name, namespace, uid } = victim.metadata;
    const extra = asked.extra ?? { [NODE_CLAIM]: [node] };
    const { body } = await webhook().post(
      '/validate/evictions',
      review({
        operation: 'CREATE',
        resource: { group: '', version: 'v1', resource: 'pods' },
        subResource: 'eviction',
        name,
        namespace,
        dryRun,
        userInfo: { username, groups: [], extra },
        object: {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name, namespace, ...(asked.annotations && { annotations: asked.annotations }) },
          deleteOptions: { preconditions: { uid }, ...options },
        },
      }),
    );
    return { ...readAnswer(body), raw: body };
  }

  return { given, evict };
}
