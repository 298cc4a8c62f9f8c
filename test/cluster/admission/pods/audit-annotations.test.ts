import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { at, contractHarness, pod, uniqueName } from '#test/contract/harness.ts';
import { patched, type Reviewer } from '#test/contract/webhook-receiver.ts';
import { webhookRegistrar } from '#test/contract/webhook-registrar.ts';
import { clusterObjects, onlyIn } from '#test/cluster/admission/support/cluster-objects.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { eventually } from '#test/build/waiting.ts';

const AUDIT_LOG = join(inject('runFolder'), 'audit.log');
const SERVER_LOG = join(inject('runFolder'), 'kube-apiserver.log');

/** Only our own control plane exposes its logs. */
describe.skipIf(!hasCluster() || !existsSync(AUDIT_LOG))('the audit log of the API server', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  registeredWebhooks(api);
  const others = webhookRegistrar(api, 'zz-after-plimsoll');
  const names = { standard: '', top: '' };

  beforeAll(async () => {
    names.standard = await objects.priorityClass('standard', 100);
    names.top = await objects.priorityClass('top', 1_000);
    const namespaceSelector = onlyIn(api);
    await objects.policy('policy', { namespaceSelector, defaultPriorityClassName: names.standard });
    // The API server itself enforces the rules of a policy, and then asks no webhook: only quotas are the webhook's alone.
    const labels = { 'plimsoll.dev/priority-quota': 'enforced' };
    await api.patch(`/api/v1/namespaces/${api.namespace}`, { metadata: { labels } }, 'merge');
    await objects.priorityQuota('none', { namespaceSelector, priorityClassNames: [names.top], hard: { pods: '0' } });
    await eventually(async () => {
      const { body } = await api.post(api.core('pods'), pod('probe'), { query: { dryRun: 'All' } });
      expect(at(body, 'spec.priorityClassName')).toBe(names.standard);
    });
    await eventually(async () => {
      const top = pod('probe', { priorityClassName: names.top });
      expect((await api.post(api.core('pods'), top, { query: { dryRun: 'All' } })).status).toBe(403);
    }, 20_000);
  });

  /** The audit record of the creation of a pod, once the API server has written it. */
  function annotationsOf(name: string): Promise<Readonly<Record<string, string>>> {
    return eventually(() => {
      const entry = entriesOf(AUDIT_LOG).find(({ verb, objectRef }) => verb === 'create' && objectRef?.name === name);
      expect(entry).toBeDefined();
      const own = Object.entries(entry?.annotations ?? {}).filter(([key]) => key.includes('.plimsoll.dev/'));
      return Promise.resolve(Object.fromEntries(own));
    });
  }

  async function create(spec: object = {}): Promise<{ readonly name: string; readonly status: number }> {
    const name = uniqueName('pod');
    const { status } = await api.post(api.core('pods'), pod(name, spec));
    return { name, status };
  }

  /** An update that was refused on an old copy of its object is naturally reviewed again with the current one. */
  function warnings(): readonly string[] {
    const isUpdate = ({ verb }: AuditEntry): boolean => verb === 'patch' || verb === 'update';
    const updates = new Set(entriesOf(AUDIT_LOG).flatMap((entry) => (isUpdate(entry) ? [entry.auditID] : [])));
    const lines = readFileSync(SERVER_LOG, 'utf8').split('\n');
    const ofOurs = lines.filter((line) => line.includes('Failed to set annotations') && line.includes('plimsoll.dev/'));
    return ofOurs.filter((line) => !updates.has(/ for audit:"([^"]*)"/.exec(line)?.[1] ?? ''));
  }

  test('records for a refused pod that it was refused, and why', async () => {
    const { name, status } = await create({ priorityClassName: names.top });
    expect(status).toBe(403);
    expect(await annotationsOf(name)).toEqual({
      'priority.plimsoll.dev/decision': 'PriorityAccepted',
      'priority.plimsoll.dev/because': `priority class \`${names.top}\` may be used`,
      'quota.plimsoll.dev/decision': 'QuotaExceeded',
      'quota.plimsoll.dev/because': expect.stringContaining('`pods` is limited to 0') as string,
    });
  });

  test('records for an allowed pod what was changed, and the verdict', async () => {
    const { name, status } = await create();
    expect(status).toBe(201);
    const { decision, because, ...others } = ofPriorities(await annotationsOf(name));
    expect([decision, because]).toEqual(['PriorityAccepted', `priority class \`${names.standard}\` may be used`]);
    expect(Object.keys(others)).toEqual([expect.stringMatching(/^mutation-[0-9a-f]{8}$/)]);
    expect(Object.values(others)).toEqual([expect.stringMatching(/^PriorityFromPolicy: .* is the default of policy/)]);
  });

  test('records the same when other mutating webhooks cause a reinvocation', async () => {
    const label: Reviewer = () => patched([{ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } }]);
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];
    await others.register('mutating', { rules, path: '/label', reviewer: label });
    const { name, status } = await create();
    expect([status, others.receiver().received.length]).toEqual([201, 1]);
    expect(Object.keys(ofPriorities(await annotationsOf(name))).toSorted()).toEqual([
      'because',
      'decision',
      expect.stringMatching(/^mutation-[0-9a-f]{8}$/),
    ]);
  });

  test('never sets one annotation key twice, which the API server would log as a warning', () => {
    expect(warnings()).toEqual([]);
  });
});

interface AuditEntry {
  readonly auditID: string;
  readonly verb: string;
  readonly objectRef?: { readonly name?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

function entriesOf(auditLog: string): readonly AuditEntry[] {
  const lines = readFileSync(auditLog, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as AuditEntry);
}

/** Those of the webhook's entry for priorities, by their keys without its name. */
function ofPriorities(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entry = 'priority.plimsoll.dev/';
  const own = Object.entries(annotations).filter(([key]) => key.startsWith(entry));
  return Object.fromEntries(own.map(([key, value]) => [key.slice(entry.length), value]));
}
