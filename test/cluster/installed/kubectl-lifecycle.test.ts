import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asUser } from '#test/cluster/admission/support/as-user.ts';
import { servesMutatingPolicies } from '#test/cluster/support/control-plane/binaries.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { writtenManifests } from '#test/build/written-manifests.ts';
import { at } from '#test/contract/harness.ts';
import { type PodCreates, startPodCreates } from './support/pod-creates.ts';
import { previousDeploy } from './support/previous-deploy.ts';
import { type Remains, remainsOf } from './support/remains.ts';
import { runKubectl } from './support/run-kubectl.ts';
import { eventually } from '#test/build/waiting.ts';

const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url));
const INSTALL = `${writtenManifests()}install.yaml`;
const APPLY = ['apply', '--server-side', '--validate=strict', '--force-conflicts'];
/** As CHANGELOG.md says, because `kubectl apply` removes nothing. */
const REMOVE_UNUSED = ['delete', 'configmap', 'plimsoll-evictions', '-n', 'plimsoll-system', '--ignore-not-found'];
const CONFIGURATIONS = 'validatingwebhookconfigurations,mutatingwebhookconfigurations';
const SECRET = '/api/v1/namespaces/plimsoll-system/secrets/plimsoll-webhook-tls';
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/plimsoll';
const CA = Buffer.from('an authority').toString('base64');
const WITHIN_MS = 240_000;

const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`Plimsoll comes, is upgraded and goes with kubectl${why ?? ''}`, () => {
  const own = ownCluster();
  let creates: PodCreates;
  let previous = '';
  const kubectl = (...args: readonly string[]) => runKubectl(own().cluster.kubeconfig, args);
  const remains = (): Promise<Remains> => remainsOf(own().cluster.kubeconfig);

  beforeAll(() => {
    creates = startPodCreates(own().connection);
  });
  afterAll(() => creates.stop());

  test(
    'from the manifests of the change before to these: what the webhook wrote stays',
    { timeout: WITHIN_MS },
    async () => {
      previous = `${previousDeploy(own().cluster.folder)}/base`;
      await kubectl(...APPLY, '-k', previous);
      await patchAsWebhook('Secret', SECRET, { data: { 'ca.crt': CA } });
      await patchAsWebhook('ValidatingWebhookConfiguration', WEBHOOKS, caBundles(await read(WEBHOOKS)));
      await kubectl(...APPLY, '-f', INSTALL);
      expect(at(await read(SECRET), 'data')).toEqual({ 'ca.crt': CA });
      const entries = at(await read(WEBHOOKS), 'webhooks') as readonly object[];
      expect(entries.map((entry) => at(entry, 'clientConfig.caBundle'))).toEqual(entries.map(() => CA));
      await creates.expectNoneRefused();
    },
  );

  test('rolled back to those manifests and upgraded again: it stays too', { timeout: WITHIN_MS }, async () => {
    await kubectl(...APPLY, '-k', previous);
    await kubectl(...APPLY, '-f', INSTALL);
    await kubectl(...REMOVE_UNUSED);
    expect(at(await read(SECRET), 'data')).toEqual({ 'ca.crt': CA });
    await creates.expectNoneRefused();
  });

  test(
    'with the component flow-schema, evictions by agents have seats of their own',
    { timeout: WITHIN_MS },
    async () => {
      const component = `${DEPLOY}components/flow-schema`;
      await kubectl(...APPLY, '-k', component);
      const uidOf = (name: string) => kubectl('get', 'flowschema', name, '-o', 'jsonpath={.metadata.uid}');
      const wanted = await Promise.all(['plimsoll-evictions', 'plimsoll-webhook'].map(uidOf));
      const asAgent = asUser(own().connection, 'system:serviceaccount:plimsoll-node:plimsoll-agent');
      const asWebhook = asUser(own().connection, 'system:serviceaccount:plimsoll-system:plimsoll-webhook');
      await eventually(async () => {
        const eviction = {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name: 'none', namespace: 'default' },
        };
        const answers = await Promise.all([
          asAgent('POST', '/api/v1/namespaces/default/pods/none/eviction', eviction),
          asWebhook('GET', '/api/v1/pods?limit=1'),
        ]);
        expect(answers.map(({ headers }) => headers['x-kubernetes-pf-flowschema-uid'])).toEqual(wanted);
      }, 30_000);
      await kubectl('delete', '-k', component);
    },
  );

  test.each([
    'enforce',
    'high-availability',
    'rules-only',
    'second-scheduler',
    'control-plane-extender',
    'dashboard',
    'without-agent',
    ...(servesMutatingPolicies(process.env) ? ['admission-both', 'admission-in-process'] : []),
  ])('the API server takes deploy/overlays/%s, every field of it', { timeout: WITHIN_MS }, async (overlay) => {
    await kubectl(...APPLY, '--dry-run=server', '-k', `${DEPLOY}overlays/${overlay}`);
  });

  test('the API server takes every example', { timeout: WITHIN_MS }, async () => {
    const examples = readdirSync(`${DEPLOY}examples`).filter((name) => name !== 'priority-classes.yaml');
    expect(examples.length).toBeGreaterThan(4);
    await kubectl(...APPLY, '-f', `${DEPLOY}examples/priority-classes.yaml`);
    for (const name of examples) await kubectl(...APPLY, '--dry-run=server', '-f', `${DEPLOY}examples/${name}`);
    await kubectl('delete', '-f', `${DEPLOY}examples/priority-classes.yaml`);
  });

  test('removed but for its definitions, nothing else is left', { timeout: WITHIN_MS }, async () => {
    const before = await remains();
    expect([before.definitions.length, before.others.length > 30]).toEqual([13, true]);
    await kubectl('delete', CONFIGURATIONS, 'plimsoll');
    await kubectl('delete', '-f', INSTALL, '--ignore-not-found', '--selector=app.kubernetes.io/component!=definitions');
    expect(await remains()).toEqual({ definitions: before.definitions, others: [] });
    await creates.expectNoneRefused();
  });

  test('removed as a whole, nothing is left', { timeout: WITHIN_MS }, async () => {
    await kubectl(...APPLY, '-f', INSTALL);
    await kubectl('delete', CONFIGURATIONS, 'plimsoll');
    await kubectl('delete', '-f', INSTALL, '--ignore-not-found');
    await eventually(async () => expect(await remains()).toEqual({ definitions: [], others: [] }), 30_000);
    await creates.expectNoneRefused();
  });

  async function read(path: string): Promise<unknown> {
    const found = await own().admin.request({ path });
    if (found.kind !== 'ok') throw new Error(`cannot read ${path}: ${found.message}`);
    return found.object;
  }

  /** Writes as the webhook does: by a patch under a name of its own. */
  async function patchAsWebhook(kind: string, path: string, body: object): Promise<void> {
    const contentType = 'application/merge-patch+json';
    const query = { fieldManager: 'plimsoll-webhook' };
    const written = await own().admin.request({ method: 'PATCH', path, query, contentType, body });
    expect([kind, written.kind]).toEqual([kind, 'ok']);
  }
});

function caBundles(configuration: unknown): object {
  const entries = at(configuration, 'webhooks') as readonly { readonly clientConfig: object }[];
  return { webhooks: entries.map((entry) => ({ ...entry, clientConfig: { ...entry.clientConfig, caBundle: CA } })) };
}
