import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asUser } from '#test/cluster/admission/support/as-user.ts';
import { POLICIES, RULES } from '#test/cluster/admission/support/cluster-objects.ts';
import { servesMutatingPolicies } from '#test/cluster/support/control-plane/binaries.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { startWebhookProcess, type WebhookProcess } from '#test/cluster/support/webhook-process.ts';
import { at, contractHarness, pod } from '#test/contract/harness.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url));
const RULES_DEFINITION = `${DEPLOY}crds/plimsoll.dev_priorityrules.yaml`;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const PAUSE_MS = 25;
/** The API server looks for new kinds every half minute. */
const PATIENCE_MS = 90_000;
const WITHIN_MS = 300_000;
const RESTRICTED = 'mallory';

const PARTS = ['definitions', 'policies', 'webhook'] as const;
type Part = (typeof PARTS)[number];

const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`in whatever order Plimsoll comes and goes${why ?? ''}`, () => {
  const own = ownCluster();
  const api = contractHarness(() => ({ kind: 'real', connection: own().connection }));
  const creates = { on: true, done: 0, refused: new Set<string>() };
  let creating: Promise<void>;
  let webhook: Promise<WebhookProcess> | undefined;

  beforeAll(() => {
    creating = createPods();
  });
  afterAll(async () => {
    creates.on = false;
    await creating;
    await (await webhook)?.stop();
  });

  /** Creates pods all the while. */
  async function createPods(): Promise<void> {
    while (creates.on) {
      const { status, body } = await api.post(api.core('pods'), pod('web'), { query: { dryRun: 'All' } });
      creates.done += 1;
      if (status !== 201) creates.refused.add(`${status} ${String(at(body, 'message'))}`);
      await letTimePass(PAUSE_MS, 'load');
    }
  }

  async function run(verb: 'apply' | 'delete', ...what: readonly string[]): Promise<void> {
    const how = verb === 'apply' ? ['--server-side', '--force-conflicts'] : ['--ignore-not-found', '--wait=true'];
    const { status, stderr } = await kubectl(own().cluster.kubeconfig, [verb, ...how, ...what]);
    expect([status, stderr.replaceAll(/^Warning.*$/gm, '').trim()]).toEqual([0, '']);
  }

  const files: Readonly<Record<Exclude<Part, 'webhook'>, readonly string[]>> = {
    definitions: ['-k', `${DEPLOY}crds`],
    policies: [
      '-f',
      `${DEPLOY}base/webhook/admission-policies.yaml`,
      ...(servesMutatingPolicies(process.env)
        ? ['-f', `${DEPLOY}components/api-server-defaults/mutating-policy.yaml`]
        : []),
    ],
  };

  function startWebhook(): Promise<WebhookProcess> {
    const { folder, kubeconfig } = own().cluster;
    const place = { tls: { secretName: 'unused', secretNamespace: api.namespace } };
    const leaderElection = { namespace: api.namespace };
    return startWebhookProcess({ folder, kubeconfig }, { ...place, leaderElection, registration: { mode: 'None' } });
  }

  async function install(part: Part): Promise<void> {
    if (part !== 'webhook') return run('apply', ...files[part]);
    // It is ready once there is everything that it reads, which may come after it.
    webhook = startWebhook();
    webhook.catch(() => undefined);
  }

  async function uninstall(part: Part): Promise<void> {
    if (part !== 'webhook') return run('delete', ...files[part]);
    await (await webhook)?.stop();
    webhook = undefined;
  }

  async function restrict(): Promise<void> {
    const subjects = [{ kind: 'User', name: RESTRICTED }];
    const policy = { metadata: { name: 'none' }, spec: { subjects, maxPriority: -1 } };
    const object = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'PriorityPolicy', ...policy };
    await eventually(async () => expect((await api.post(POLICIES, object)).status).toBe(201), PATIENCE_MS);
  }

  function createAsRestricted() {
    const as = asUser(own().connection, RESTRICTED, { groups: ['system:masters'] });
    return as('POST', `${api.core('pods')}?dryRun=All`, pod('web'));
  }

  async function untilEnforced(): Promise<void> {
    await eventually(async () => {
      const { status, body } = await createAsRestricted();
      expect([status, at(body, 'message')]).toEqual([
        403,
        expect.stringContaining('policy `none` allows a priority of at most -1 here'),
      ]);
    }, PATIENCE_MS);
  }

  async function untilNotEnforced(): Promise<void> {
    await eventually(async () => expect((await createAsRestricted()).status).toBe(201), PATIENCE_MS);
  }

  function expectNoneRefused(): void {
    expect([...creates.refused]).toEqual([]);
    expect(creates.done).toBeGreaterThan(10);
    creates.done = 0;
  }

  const orders = permutations(PARTS);
  const cases = orders.map((comes, index) => ({ comes, goes: orders[orders.length - 1 - index] ?? comes }));
  test.each(cases)(
    'comes as $comes, goes as $goes: no pod is refused for it, and rules hold while all is there',
    { timeout: WITHIN_MS },
    async ({ comes, goes }) => {
      for (const part of comes) await install(part);
      await webhook;
      await restrict();
      await untilEnforced();
      for (const part of goes) await uninstall(part);
      await untilNotEnforced();
      expectNoneRefused();
    },
  );

  test('the definition of the rules is deleted and comes again', { timeout: WITHIN_MS }, async () => {
    for (const part of PARTS) await install(part);
    await webhook;
    await restrict();
    await untilEnforced();
    await run('delete', '-f', RULES_DEFINITION);
    await untilNotEnforced();
    await run('apply', '-f', RULES_DEFINITION);
    await untilEnforced();
    expectNoneRefused();
  });

  test('the definition of the rules is that of another version', { timeout: WITHIN_MS }, async () => {
    await (await webhook)?.stop();
    webhook = undefined;
    const { body } = await api.get(`${DEFINITIONS}/priorityrules.plimsoll.dev`);
    const versions = structuredClone(at(body, 'spec.versions')) as { schema: { openAPIV3Schema: unknown } }[];
    for (const { schema } of versions)
      schema.openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object' }, status: { type: 'object' } } };
    const path = `${DEFINITIONS}/priorityrules.plimsoll.dev`;
    expect((await api.patch(path, { spec: { versions } }, 'merge')).status).toBe(200);
    await eventually(async () => {
      const { body: rules } = await api.patch(`${RULES}/plimsoll`, { spec: { rules: [] } }, 'merge');
      expect(at(rules, 'spec')).toEqual({});
    });
    await untilNotEnforced();
    await run('apply', ...files.definitions);
    await install('webhook');
    await untilEnforced();
    expectNoneRefused();
  });
});

function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((first, index) =>
    permutations(items.filter((_, other) => other !== index)).map((rest) => [first, ...rest]),
  );
}
