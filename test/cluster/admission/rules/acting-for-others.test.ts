import { beforeAll, describe, expect, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { at, contractHarness, pod, textAt, uniqueName } from '#test/contract/harness.ts';
import { asUser, type AnswerOfUser, type AsUser } from '#test/cluster/admission/support/as-user.ts';
import { clusterObjects, onlyIn } from '#test/cluster/admission/support/cluster-objects.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { editorOf } from '#test/cluster/admission/support/tenant.ts';
import { eventually } from '#test/build/waiting.ts';

const ROBOT = 'robot';

/** The role `edit` lets a person act as every service account of the namespace: get its token, or impersonate it. */
describe.skipIf(!hasCluster())('a person who acts as a service account of the namespace', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  registeredWebhooks(api);
  const person = uniqueName('person');
  const account = { kind: 'ServiceAccount', name: ROBOT, namespace: api.namespace };
  let high = '';
  let asPerson: AsUser;
  let asRobot: AsUser;

  beforeAll(async () => {
    asPerson = await editorOf(api, { kind: 'User', name: person });
    expect((await api.post(api.core('serviceaccounts'), { metadata: { name: ROBOT } })).status).toBe(201);
    await editorOf(api, account);
    const token = await asPerson('POST', api.core(`serviceaccounts/${ROBOT}/token`), {
      spec: { expirationSeconds: 3_600 },
    });
    const held = { ...api.target.connection, token: () => Promise.resolve(textAt(token.body, 'status.token')) };
    asRobot = asUser(held);
    high = await objects.priorityClass('high', 1_000);
    await objects.policy('person', policyFor({ kind: 'User', name: person }));
    await eventually(async () => expect(await create(asPerson)).toEqual(REFUSED));
  });

  const policyFor = (subject: object): object => ({
    namespaceSelector: onlyIn(api),
    subjects: [subject],
    maxPriority: 500,
  });
  const REFUSED = [403, expect.stringContaining('allows a priority of at most 500 here')];
  const create = async (user: AsUser): Promise<unknown> => {
    const { status, body }: AnswerOfUser = await user(
      'POST',
      api.core('pods'),
      pod(uniqueName('pod'), { priorityClassName: high }),
    );
    return [status, at(body, 'message')];
  };

  test('is treated as that account, so a rule for the person does not apply', async () => {
    expect(await create(asRobot)).toEqual([201, undefined]);
  });

  test('is stopped by a rule for the account, or for everyone in the namespace', async () => {
    await objects.policy('account', policyFor(account));
    await eventually(async () => expect(await create(asRobot)).toEqual(REFUSED));
  });
});
