import { afterEach, beforeEach, expect, test } from 'vitest';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { ADMISSION_POLICIES, MUTATING_POLICIES, VALIDATING_WEBHOOKS } from '#shared/kube/resource.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { eventually } from '#test/build/waiting.ts';
import { apiDouble, type ApiDouble, type Asked } from '#test/fakes/api-double.ts';
import { createOwnObjects, type OwnObjects } from '#webhook/rules/own-objects.ts';
import { missingPolicies } from '#webhook/rules/enforcing-policies.ts';

const FOLDER = '/apis/admissionregistration.k8s.io/v1';
const POLICIES = `${FOLDER}/validatingadmissionpolicies`;
const OURS = { resource: ADMISSION_POLICIES, name: 'priority.plimsoll.dev' };
const log = createLog({ component: 'test', level: 'silent', format: 'json' });

let api: ApiDouble;
let asked: Asked[];
let client: KubeClient;
let own: OwnObjects;
let ended: AbortController;

beforeEach(async () => {
  api = await apiDouble();
  asked = [];
  ended = new AbortController();
  api.onRequest = (each) => void asked.push(each);
  client = createClient(directConnection({ server: api.url }), { userAgent: 'test' });
  own = createOwnObjects({ client, clock, random: () => 0, log, metrics: createMetrics('webhook') });
  for (const { kind = '', ...object } of rulePolicies())
    api.put(kind.endsWith('Binding') ? `${FOLDER}/validatingadmissionpolicybindings` : POLICIES, { ...object });
});
afterEach(async () => {
  ended.abort();
  client.close();
  await api.close();
});

/** All but the kinds of 1.36, which the double does not serve. */
async function follow(): Promise<void> {
  for (const copy of own.copies) void copy.run(ended.signal);
  await eventually(() => expect(own.copies.filter((copy) => copy.isSynced())).toHaveLength(own.copies.length - 2));
}

test('objects of ours are read from a copy that follows each change, without a request', async () => {
  await follow();
  asked.length = 0;
  expect(await missingPolicies(own.read, ended.signal)).toEqual([]);
  api.remove(POLICIES, OURS.name);
  await eventually(async () =>
    expect(await missingPolicies(own.read, ended.signal)).toEqual([`ValidatingAdmissionPolicy ${OURS.name}`]),
  );
  api.put(POLICIES, { metadata: { name: 'of-another-project' }, spec: {} });
  api.put(`${FOLDER}/validatingwebhookconfigurations`, { metadata: { name: 'plimsoll' }, webhooks: [] });
  await eventually(async () =>
    expect(await own.read({ resource: VALIDATING_WEBHOOKS, name: 'plimsoll' })).toMatchObject({ webhooks: [] }),
  );
  expect(await own.read({ resource: ADMISSION_POLICIES, name: 'of-another-project' })).toBeUndefined();
  expect(asked.filter(({ path, isWatch }) => !isWatch && !path.includes('mutatingadmission'))).toEqual([]);
});

test('what is not listed yet, or not served, is read from the API server', async () => {
  expect(await own.read(OURS)).toMatchObject({ metadata: { name: OURS.name } });
  await follow();
  expect(await own.read({ resource: MUTATING_POLICIES, name: 'defaults.plimsoll.dev' })).toBeUndefined();
  expect(asked.at(-1)?.path).toBe(`${FOLDER}/mutatingadmissionpolicies/defaults.plimsoll.dev`);
  api.failing = 403;
  await expect(own.read({ resource: MUTATING_POLICIES, name: 'defaults.plimsoll.dev' })).rejects.toThrow(
    'cannot read MutatingAdmissionPolicy "defaults.plimsoll.dev"',
  );
});
