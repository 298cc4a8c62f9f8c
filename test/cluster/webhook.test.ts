import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { kubeconfigConnection } from '#shared/kube/kubeconfig-connection.ts';
import type { ClusterConnection } from '#shared/kube/connection.ts';
import { at, contractHarness, eventually, pod, uniqueName } from '#test/contract/harness.ts';
import { registeringItself, startWebhookProcess, type WebhookProcess } from './webhook-process.ts';

const kubeconfig = inject('kubeconfig');
const CRDS = fileURLToPath(new URL('../../deploy/crds/', import.meta.url));
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
const POLICIES = '/apis/plimsoll.dev/v1alpha1/prioritypolicies';
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';

describe.skipIf(kubeconfig === '')('the webhook, registered with a real kube-apiserver', () => {
  const found: { connection?: ClusterConnection; webhook?: WebhookProcess } = {};
  beforeAll(async () => {
    found.connection = await kubeconfigConnection(kubeconfig);
  });
  const api = contractHarness(() => ({ kind: 'real', connection: found.connection ?? { server: '' } }));
  const names = { standard: uniqueName('standard'), high: uniqueName('high'), never: uniqueName('never') };
  const policy = uniqueName('policy');
  const pods = (): string => api.core('pods');

  beforeAll(async () => {
    for (const file of readdirSync(CRDS).filter((name) => name.startsWith('plimsoll.dev_'))) {
      const definition = parse(readFileSync(`${CRDS}${file}`, 'utf8')) as { metadata: { name: string } };
      const path = `${DEFINITIONS}/${definition.metadata.name}`;
      const applied = await api.patch(path, definition, 'apply', { query: { fieldManager: 'test', force: true } });
      expect([applied.status, applied.body]).toEqual([expect.toBeOneOf([200, 201]), expect.anything()]);
    }
    await eventually(async () => expect((await api.get(POLICIES)).status).toBe(200));
    await api.post(CLASSES, { metadata: { name: names.standard }, value: 100 });
    await api.post(CLASSES, { metadata: { name: names.high }, value: 1_000 });
    await api.post(CLASSES, { metadata: { name: names.never }, value: 1_000, preemptionPolicy: 'Never' });
    const spec = {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': api.namespace } },
      defaultPriorityClassName: names.standard,
      maxPriority: 500,
    };
    const made = await api.post(POLICIES, {
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'PriorityPolicy',
      metadata: { name: policy },
      spec,
    });
    expect([made.status, at(made.body, 'message')]).toEqual([201, undefined]);
    found.webhook = await startWebhookProcess(kubeconfig, registeringItself('Ignore'));
    // The API server takes up to a second to call a new webhook.
    await eventually(async () => {
      const { body } = await api.post(pods(), pod('probe'), { query: { dryRun: 'All' } });
      expect(at(body, 'spec.priorityClassName')).toBe(names.standard);
    });
  });
  afterAll(async () => {
    await found.webhook?.stop();
    for (const kind of ['mutating', 'validating'])
      await api.remove(`${ADMISSION}/${kind}webhookconfigurations/plimsoll`);
    await api.remove(`${POLICIES}/${policy}`);
    for (const name of Object.values(names)) await api.remove(`${CLASSES}/${name}`);
  });

  test('class, integer and policy arrive together, and pass the Priority plugin', async () => {
    const { status, body } = await api.post(pods(), pod('defaulted'));
    expect([status, at(body, 'message')]).toEqual([201, undefined]);
    expect(body).toMatchObject({
      spec: { priorityClassName: names.standard, priority: 100, preemptionPolicy: 'PreemptLowerPriority' },
    });
  });

  test('a class above the limit is refused in our words', async () => {
    const { status, body } = await api.post(pods(), pod('greedy', { priorityClassName: names.high }));
    expect([status, at(body, 'reason')]).toEqual([403, 'Forbidden']);
    const message = String(at(body, 'message'));
    expect(message).toMatch(/^admission webhook "priority\.plimsoll\.dev" denied the request: /);
    expect(message).toContain(names.high);
    expect(message).toContain('500');
  });

  test('an unknown class and a number that does not fit are refused by the plugin before us', async () => {
    const unknown = await api.post(pods(), pod('bad', { priorityClassName: 'missing' }));
    expect(at(unknown.body, 'message')).toBe('pods "bad" is forbidden: no PriorityClass with name missing was found');
    const number = await api.post(pods(), pod('bad', { priorityClassName: names.standard, priority: 7 }));
    expect([number.status, at(number.body, 'message')]).toEqual([
      403,
      'pods "bad" is forbidden: the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 100 from the given PriorityClass name',
    ]);
  });

  test('a dry run is judged alike', async () => {
    const dry = { query: { dryRun: 'All' } };
    expect((await api.post(pods(), pod('dry', { priorityClassName: names.high }), dry)).status).toBe(403);
    const { body } = await api.post(pods(), pod('dry'), dry);
    expect(at(body, 'spec.priority')).toBe(100);
  });

  test('a generated name is judged like any other', async () => {
    const generated = pod('', { priorityClassName: names.high }, { name: undefined, generateName: 'greedy-' });
    const { status, body } = await api.post(pods(), generated);
    expect([status, at(body, 'message')]).toEqual([403, expect.stringContaining('priority.plimsoll.dev')]);
  });

  test('what is there already lives on: labels change, pods are deleted', async () => {
    const labelled = await api.patch(`${pods()}/defaulted`, { metadata: { labels: { a: 'b' } } }, 'merge');
    expect(labelled.status).toBe(200);
    expect((await api.remove(pods(), undefined, { query: { labelSelector: 'a=b' } })).status).toBe(200);
  });

  test('without us pods are let in, as the failure policy says, and afterwards judged again', async () => {
    await found.webhook?.kill();
    const orphan = await api.post(pods(), pod('orphan', { priorityClassName: names.high }));
    expect([orphan.status, at(orphan.body, 'message')]).toEqual([201, undefined]);
    found.webhook = await startWebhookProcess(kubeconfig, registeringItself('Ignore'));
    await eventually(async () => {
      const { status } = await api.post(pods(), pod(uniqueName('again'), { priorityClassName: names.high }));
      expect(status).toBe(403);
    });
  });

  test('with failure policy Fail nothing gets in while we are away', async () => {
    await found.webhook?.stop();
    found.webhook = await startWebhookProcess(kubeconfig, registeringItself('Fail'));
    await eventually(async () => {
      const { body } = await api.get(`${ADMISSION}/validatingwebhookconfigurations/plimsoll`);
      expect(at(body, 'webhooks.0.failurePolicy')).toBe('Fail');
    });
    await found.webhook.kill();
    await eventually(async () => {
      const { status, body } = await api.post(pods(), pod(uniqueName('late')));
      expect([status, at(body, 'message')]).toEqual([
        500,
        expect.stringContaining('failed calling webhook "priority.plimsoll.dev"'),
      ]);
    });
    found.webhook = await startWebhookProcess(kubeconfig, registeringItself('Ignore'));
  });
});
