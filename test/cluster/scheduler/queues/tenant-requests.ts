import { expect } from 'vitest';
import { at } from '#test/contract/harness.ts';
import type { AsUser } from '#test/cluster/admission/support/as-user.ts';
import { podOf, pods } from './queue-scene.ts';

const GANG = 'plimsoll.dev/gang';
const SIZE = 'plimsoll.dev/gang-size';
const AUTO = { [GANG]: 'auto' };
const JOBS = '/apis/batch/v1/namespaces/shop/jobs?dryRun=All';

const jobOf = (metadata: object, labels?: object): object => ({
  metadata: { generateName: 'train-', ...metadata },
  spec: { parallelism: 8, template: podOf('', { restartPolicy: 'Never' }, labels === undefined ? {} : { labels }) },
});

/** What the API server says to a tenant about gangs: the labels of the template of a Job, or the refusal. */
export async function gangAnswers(tenant: AsUser) {
  const gangOf = async (body: object): Promise<unknown> => {
    const { body: answer, status } = await tenant('POST', JOBS, body);
    const labels = at(answer, 'spec.template.metadata.labels') as Record<string, string> | undefined;
    return status === 201 ? [labels?.[GANG], labels?.[SIZE], labels?.['app']] : at(answer, 'message');
  };
  const gang = podOf('of-a-gang', {}, { labels: { [GANG]: 'a', [SIZE]: '4' } });
  await tenant('POST', pods('shop'), gang);
  const changed = await tenant('PATCH', pods('shop', 'of-a-gang'), { metadata: { labels: { [SIZE]: '5' } } });
  return {
    auto: await gangOf(jobOf({ labels: AUTO })),
    autoByAnnotation: await gangOf(jobOf({ annotations: AUTO }, { app: 'a' })),
    ownSize: await gangOf(jobOf({ labels: AUTO }, { ...AUTO, [SIZE]: '3' })),
    tooFewPods: await gangOf(jobOf({}, { ...AUTO, [SIZE]: '9' })),
    plain: await gangOf(jobOf({})),
    changed: at(changed.body, 'message'),
  };
}

export const GANG_ANSWERS = {
  auto: ['auto', '8', undefined],
  autoByAnnotation: ['auto', '8', 'a'],
  ownSize: ['auto', '3', undefined],
  tooFewPods: expect.stringContaining('pods that never come') as unknown,
  plain: [undefined, undefined, undefined],
  changed: expect.stringContaining('plimsoll.dev/gang-min must not change') as unknown,
};

export function ofDaemonSet(): object {
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'logs', uid: '6f1f6f0a-0000-4000-8000-000000000001' };
}

const job = (spec: object): object => ({ spec: { template: podOf('', { restartPolicy: 'Never' }), ...spec } });
const deployment = (maxUnavailable: number | string, replicas = 1): object => {
  const labels = { app: 'web' };
  const template = { ...podOf(''), metadata: { labels } };
  const strategy = { rollingUpdate: { maxUnavailable, maxSurge: 1 } };
  return { spec: { replicas, selector: { matchLabels: labels }, template, strategy } };
};
const budget = (spec: object): object => ({ spec: { selector: {}, ...spec } });

/** Objects that a tenant writes, by resource, and the warning about each. */
export const WARNED_OF: readonly (readonly [string, string, object, string | undefined])[] = [
  ['a Job with a deadline', 'batch/v1/jobs', job({ activeDeadlineSeconds: 60 }), 'activeDeadlineSeconds includes'],
  ['a Job without one', 'batch/v1/jobs', job({}), undefined],
  ['a rollout that needs room first', 'apps/v1/deployments', deployment(0), 'waits until its queue has room'],
  ['a rollout that needs room first, in percent', 'apps/v1/deployments', deployment('0%'), 'waits until its queue'],
  [
    'a rollout whose percentage rounds to none',
    'apps/v1/deployments',
    deployment('25%', 3),
    'waits until its queue has room',
  ],
  ['a rollout whose percentage is one pod', 'apps/v1/deployments', deployment('25%', 4), undefined],
  ['a rollout that makes room', 'apps/v1/deployments', deployment(1), undefined],
  ['a budget in percent', 'policy/v1/poddisruptionbudgets', budget({ minAvailable: '50%' }), 'use a number'],
  [
    'a budget in percent of what may be missing',
    'policy/v1/poddisruptionbudgets',
    budget({ maxUnavailable: '50%' }),
    'use a number',
  ],
  ['a budget in pods', 'policy/v1/poddisruptionbudgets', budget({ maxUnavailable: 1 }), undefined],
];

/** What the API server says to a resize of the only container of a pod, as a dry run. */
export async function resized(by: AsUser, path: string, cpu: string): Promise<readonly [number, unknown]> {
  const { body: pod } = await by('GET', path);
  const containers = [{ ...(at(pod, 'spec.containers.0') as object), resources: { requests: { cpu } } }];
  const { status, body } = await by('PATCH', `${path}/resize?dryRun=All`, { spec: { containers } });
  return [status, at(body, 'message')];
}
