import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { patchPolicy } from '#cli/mode/plan-mode.ts';
import { kubectl as kubectlAnswer } from '#test/cluster/support/control-plane/kubectl.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { at } from '#test/contract/harness.ts';
import { registerCaBundle } from '#webhook/registration/registration.ts';
import { builtManifests, nameOf } from './support/built-manifests.ts';
import { runKubectl } from './support/run-kubectl.ts';
import { type Diff, threeWayDiff } from './support/three-way-diff.ts';

const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url));
const POLICY = readFileSync(`${DEPLOY}examples/node-pressure-policy-dry-run.yaml`, 'utf8');
const SERVER_SIDE = ['apply', '--server-side'];
/** Names that Argo CD and Flux use. */
const MANAGERS = ['argocd-controller', 'kustomize-controller'];
const WITHIN_MS = 240_000;
const OVERLAYS = [
  ...['base', 'overlays/second-scheduler', 'overlays/control-plane-extender'],
  ...['overlays/node-controller', 'overlays/disruption-record', 'overlays/queues', 'overlays/rescheduling'],
  ...['overlays/dashboard', 'overlays/admission-both'],
];

const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`two field managers${why ?? ''}`, { timeout: WITHIN_MS }, () => {
  const own = ownCluster();
  let diff: Diff;
  const kubectl = (args: readonly string[], input?: string) => runKubectl(own().cluster.kubeconfig, args, input);
  const applyAs = (manager: string, folder: string) =>
    kubectl([...SERVER_SIDE, `--field-manager=${manager}`, '-k', `${DEPLOY}${folder}`]);

  beforeAll(async () => {
    diff = await threeWayDiff(own().admin);
  });

  test.each(OVERLAYS)('apply deploy/%s without a conflict, and find no difference', async (folder) => {
    const manifests = await builtManifests(own().cluster.kubeconfig, folder);
    for (const manager of MANAGERS) {
      await applyAs(manager, folder);
      expect(await differences(manifests)).toEqual([]);
    }
  });

  test('after the webhook has written its authority, both leave it alone', async () => {
    await registerCaBundle(own().admin, 'authority');
    const data = JSON.stringify({ data: { 'ca.crt': 'YQ==' } });
    const secret = ['secret', 'plimsoll-webhook-tls', '-n', 'plimsoll-system'];
    await kubectl(['patch', ...secret, '--type=merge', '--field-manager=plimsoll-webhook', '-p', data]);
    for (const manager of MANAGERS) await applyAs(manager, 'base');
    expect(await differences(await builtManifests(own().cluster.kubeconfig, 'base'))).toEqual([]);
    expect(await kubectl(['get', ...secret, '-o', 'jsonpath={.data}'])).toBe('{"ca.crt":"YQ=="}');
    const bundle = 'jsonpath={.webhooks[0].clientConfig.caBundle}';
    const configuration = ['get', 'validatingwebhookconfiguration', 'plimsoll', '-o', bundle];
    expect(await kubectl(configuration)).toBe(Buffer.from('authority').toString('base64'));
  });

  test('after an apply on the side of the client, both apply without a conflict', async () => {
    await kubectl(['apply', '-k', `${DEPLOY}base`]);
    for (const manager of MANAGERS) await applyAs(manager, 'base');
    expect(await differences(await builtManifests(own().cluster.kubeconfig, 'base'))).toEqual([]);
  });

  test('`plimsoll mode` keeps its field until another mode is applied with force', async () => {
    const inGit = (mode: string): string => POLICY.replace('mode: DryRun', `mode: ${mode}`);
    const apply = async (mode: string, ...flags: readonly string[]) =>
      await kubectlAnswer(
        own().cluster.kubeconfig,
        [...SERVER_SIDE, '--field-manager=git', ...flags, '-f', '-'],
        inGit(mode),
      );
    expect(await apply('DryRun')).toMatchObject({ status: 0 });
    const change = { policy: 'batch-pool', resourceVersion: undefined, spec: { mode: 'Enforce' } };
    expect(await patchPolicy(change, own().admin, false)).toBeUndefined();
    const refused = await apply('DryRun');
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('"plimsoll-mode"')]);
    expect(await apply('Enforce')).toMatchObject({ status: 0 });
    expect(await apply('DryRun', '--force-conflicts')).toMatchObject({ status: 0 });
    expect(await apply('Enforce')).toMatchObject({ status: 0 });
  });

  async function differences(manifests: readonly unknown[]): Promise<readonly string[]> {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests });
    const found = JSON.parse(await kubectl(['get', '-o', 'json', '-f', '-'], list)) as object;
    const live = new Map((at(found, 'items') as readonly unknown[]).map((each) => [nameOf(each), each]));
    return manifests.flatMap((manifest) =>
      diff(manifest, live.get(nameOf(manifest))).map((path) => `${nameOf(manifest)}${path}`),
    );
  }
});
