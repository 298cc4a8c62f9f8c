import type { ApiDouble } from '#test/fakes/api-double.ts';
import type { StoredObject } from '#test/fakes/stored-objects.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Settings } from './in-process.ts';
import { createPodReview, pod, readAnswer, review, type Answer } from './reviews.ts';
import { CLASSES, NAMESPACES, PRIORITY_QUOTAS, runWebhook, type RunningWebhook } from './webhook-process.ts';

export const HIGH = { priorityClassName: 'high', priority: 1_000, preemptionPolicy: 'PreemptLowerPriority' };
/** Quotas are in force by either label. */
const LABELS = {
  'team-a': { 'plimsoll.dev/priority-quota': 'enforced' },
  'team-b': { 'plimsoll.dev/managed': 'true' },
};

function priorityClass(name: string, value: number): StoredObject {
  return { metadata: { name }, value, preemptionPolicy: 'PreemptLowerPriority' };
}

export function quota(name: string, hard: Record<string, string>): StoredObject {
  return { metadata: { name, uid: name, generation: 1 }, spec: { priorityClassNames: ['high'], hard } };
}

/** One pod, before or after a resize. */
export function sized(memory: string, generation: number, status: object = {}): StoredObject {
  const spec = { ...HIGH, containers: [{ name: 'main', resources: { requests: { memory } } }] };
  return { ...pod(spec, { uid: 'one', name: 'one', resourceVersion: '5', generation }), status } as never;
}

/** The webhook with the entry of quotas, asked about pods of the class `high`. */
export function quotaEntry() {
  let webhook: RunningWebhook;

  async function start(prepare: (api: ApiDouble) => void, settings: Settings = {}, clock?: Clock): Promise<void> {
    webhook = await runWebhook(
      (api) => {
        api.put(CLASSES, priorityClass('high', 1_000));
        api.put(CLASSES, priorityClass('low', 1));
        for (const [name, labels] of Object.entries(LABELS)) api.put(NAMESPACES, { metadata: { name, labels } });
        prepare(api);
      },
      settings,
      undefined,
      clock,
    );
  }

  async function ask(uid: string, namespace = 'team-a', more: Record<string, unknown> = {}): Promise<Answer> {
    const body = createPodReview(pod(HIGH, { uid, name: uid, namespace }), { namespace, ...more });
    return readAnswer((await webhook.post('/validate/quota', body)).body);
  }

  function status(name: string) {
    const stored = webhook.api.get(PRIORITY_QUOTAS, name)?.['status'] as
      { used: Record<string, string>; reservations: { uid: string }[]; observedGeneration: number } | undefined;
    return {
      used: stored?.used,
      reserved: stored?.reservations.map(({ uid }) => uid),
      counted: stored?.observedGeneration,
    };
  }

  async function resize(oldObject: StoredObject, object: StoredObject): Promise<Answer> {
    const request = {
      operation: 'UPDATE',
      resource: { group: '', version: 'v1', resource: 'pods' },
      subResource: 'resize',
      name: 'one',
      namespace: 'team-a',
    };
    return readAnswer((await webhook.post('/validate/quota', review({ ...request, object, oldObject }))).body);
  }

  return {
    start,
    ask,
    status,
    resize,
    stop: () => webhook.stop(),
    get webhook() {
      return webhook;
    },
  };
}
