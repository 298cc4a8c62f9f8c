import { beforeAll, describe, expect, test } from 'vitest';
import { ACCOUNTS, ALL_ACCOUNTS } from '#shared/kube/accounts/accounts.ts';
import { accountPolicies, pressurePolicy } from '#tools/policies/account-policies.ts';
import { at, pod } from '#test/contract/harness.ts';
import { policyStage } from './policy-stage.ts';

const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const JUDGED = { preconditions: { uid: 'some-uid' } };
const FAR = '2036-01-01T00:00:00Z';

describe('what a stolen token of our accounts can do', () => {
  const { user, create, enforce } = policyStage();

  beforeAll(async () => {
    for (const policy of [...accountPolicies(), ...pressurePolicy(ACCOUNTS.controller, 'controller')])
      await enforce(policy);
    for (const namespace of ['default', 'kube-system'])
      await create(`/api/v1/namespaces/${namespace}/pods`, pod('web', { nodeName: 'n0' }));
    const avoid = [{ owner: { kind: 'Job', namespace: 'a', name: 'b' }, until: FAR, cause: 'c', hard: true }];
    await create(PRESSURES, { ...PRESSURE, spec: { avoid } });
  }, 60_000);

  const PRESSURE = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name: 'n0' } };

  async function evict(by: string, namespace: string, deleteOptions: object): Promise<unknown> {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web', namespace }, deleteOptions };
    const path = `/api/v1/namespaces/${namespace}/pods/web/eviction?dryRun=All`;
    const answer = await user(by)('POST', path, body);
    return answer.status === 403 ? at(answer.body, 'message') : answer.status;
  }

  const others = ALL_ACCOUNTS.filter(({ evicts, preempts }) => evicts !== 'OfOwnNode' && preempts === undefined);
  const evicting = others.filter(({ evicts }) => evicts !== undefined);

  test.each(evicting.map(({ name, user: by }) => [name, by]))('%s evicts only as its program does', async (_, by) => {
    expect(await evict(by, 'default', {})).toContain('must carry the UID');
    expect(await evict(by, 'default', { ...JUDGED, gracePeriodSeconds: 0 })).toContain('grace period of 0');
    expect(await evict(by, 'kube-system', JUDGED)).toContain('must not evict from kube-system');
    // Another UID than the pod's: only the API server itself refuses it.
    expect(await evict(by, 'default', JUDGED)).toBe(409);
  });

  test('an account that evicts no pods cannot', async () => {
    for (const { name, user: by } of others.filter(({ evicts }) => evicts === undefined))
      expect([name, await evict(by, 'default', JUDGED)]).toEqual([name, expect.stringContaining('evicts no pods')]);
  });

  test('the record counts in the accounts of namespaces, and not in that of our own evictions', async () => {
    const path = '/apis/plimsoll.dev/v1alpha1/namespaces/default/disruptionaccounts';
    const account = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'DisruptionAccount' };
    const answers = async (by: string, name: string): Promise<[number, number]> => {
      const made = await user(by)('POST', `${path}?dryRun=All`, { ...account, metadata: { name } });
      await create(path, { ...account, metadata: { name } });
      const written = await user(by)('PATCH', `${path}/${name}/status?dryRun=All`, { status: { debits: [] } });
      return [made.status, written.status];
    };
    expect(await answers(ACCOUNTS.controller.user, 'plimsoll')).toEqual([201, 200]);
    expect(await answers(ACCOUNTS.controller.user, 'plimsoll-evictions')).toEqual([403, 403]);
    const change = { status: { debits: [] } };
    const webhook = user(ACCOUNTS.webhook.user);
    expect(await webhook('PATCH', `${path}/plimsoll-evictions/status?dryRun=All`, change)).toMatchObject({
      status: 200,
    });
  });

  async function change(body: object, by = ACCOUNTS.controller.user): Promise<unknown> {
    const answer = await user(by)('PATCH', `${PRESSURES}/n0?dryRun=All`, body);
    return answer.status === 200 ? 200 : at(answer.body, 'message');
  }

  test('the controller changes only avoid lists, and forbids a node only where it may change nodes', async () => {
    const soft = { owner: { kind: 'Job', namespace: 'a', name: 'c' }, until: FAR, cause: 'c' };
    const hard = { ...soft, hard: true };
    expect(await change({ spec: { avoid: [soft] } })).toBe(200);
    // In the sandbox every user may do everything; test/cluster/policies asks a real authorizer.
    expect(await change({ spec: { avoid: [soft, hard] } })).toBe(200);
    expect(await change({ spec: { preemptionLoops: [] } })).toContain('may change only spec.avoid');
    expect(await change({ metadata: { labels: { a: 'b' } } })).toContain('may not change the metadata');
    expect(await change({ spec: { avoid: [hard] } }, 'tenant')).toBe(200);
  });
});
