import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { type Answer, at, contractHarness, pod, textAt, uniqueName } from '#test/contract/harness.ts';
import { clusterObjects, onlyIn, PRIORITY_QUOTAS } from '#test/cluster/admission/support/cluster-objects.ts';
import { type PodHistory, podHistory } from './pod-history.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

/** The pause of a client before it retries. */
const AGAIN_AFTER_MS = 200;
const REPLICAS = 3;
const HARD = 200;
const CREATES = 300;
const AT_ONCE = 100;
const DEFINITION = fileURLToPath(new URL('../../../../deploy/crds/plimsoll.dev_priorityquotas.yaml', import.meta.url));
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const STATUS = 'spec.versions.0.schema.openAPIV3Schema.properties.status.properties';
/** The fields that earlier versions of the definition lack. */
const ADDED_SINCE = ['slices', 'ledgerVersion'];

describe.skipIf(!hasCluster())('a PriorityQuota whose CustomResourceDefinition is older than the webhook', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  const { processes } = registeredWebhooks(api, {
    replicas: REPLICAS,
    settings: { sliceAfterSeconds: 0, reservationSeconds: 20 },
  });
  let priorityClassName = '';
  let quota = '';
  let history: PodHistory;

  beforeAll(async () => {
    await define(ADDED_SINCE);
    const labels = { 'plimsoll.dev/priority-quota': 'enforced' };
    await api.patch(`/api/v1/namespaces/${api.namespace}`, { metadata: { labels } }, 'merge');
    priorityClassName = await objects.priorityClass('many', 10);
    const hard = { pods: String(HARD) };
    const spec = { namespaceSelector: onlyIn(api), priorityClassNames: [priorityClassName], hard };
    quota = await objects.priorityQuota('quota', spec);
    await eventually(async () => expect(at(await quotaObject(), 'status.used')).toEqual({ pods: '0' }), 20_000);
    history = await podHistory(api);
  });
  afterAll(async () => {
    await history.close();
    await define([]);
  });

  /** Applies the definition of this version without some fields of the status. */
  async function define(without: readonly string[]): Promise<void> {
    const definition: unknown = parse(readFileSync(DEFINITION, 'utf8'));
    for (const field of without) Reflect.deleteProperty(at(definition, STATUS) as object, field);
    const path = `${DEFINITIONS}/${textAt(definition, 'metadata.name')}`;
    const applied = await api.patch(path, definition, 'apply', { query: { fieldManager: 'test', force: true } });
    expect([applied.status, at(applied.body, 'message')]).toEqual([200, undefined]);
  }

  async function quotaObject(): Promise<unknown> {
    return (await api.get(`${PRIORITY_QUOTAS}/${quota}`)).body;
  }

  /** Retries after a 429, like every Kubernetes client. */
  async function create(): Promise<Answer> {
    for (;;) {
      const answer = await api.post(api.core('pods'), pod(uniqueName('pod'), { priorityClassName }));
      if (answer.status !== 429 && answer.status !== 500) return answer;
      await letTimePass(AGAIN_AFTER_MS, 'load');
    }
  }

  test('is not exceeded, because a slice that is not stored is not spent', { timeout: 180_000 }, async () => {
    const answers = await inFlight(AT_ONCE, Array(CREATES).keys(), create);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([403]));
    expect(CREATES - refused.length).toBeGreaterThan(HARD / 2);
    expect(await history.mostAtOnce(priorityClassName)).toBeLessThanOrEqual(HARD);
    expect(at(await quotaObject(), 'status.slices')).toBeUndefined();
    const metrics = await Promise.all(processes.map((each) => each.metrics()));
    expect(metrics.filter((text) => text.includes('plimsoll_quota_charges_total{path="slice"}'))).toEqual([]);
  });
});
