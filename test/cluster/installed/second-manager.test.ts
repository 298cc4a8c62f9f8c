import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { patchPolicy } from '#cli/mode/plan-mode.ts';
import { kubectl as kubectlAnswer } from '#test/cluster/support/control-plane/kubectl.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { registerCaBundle } from '#webhook/registration/registration.ts';
import { liveReader } from '#webhook/cluster-state/read-own.ts';
import { builtManifests } from './support/built-manifests.ts';
import { WAYS, whatDiffers, whyNoGitOps } from './support/gitops-comparison.ts';
import { runKubectl } from './support/run-kubectl.ts';

const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url));
const POLICY = readFileSync(`${DEPLOY}examples/node-pressure-policy-dry-run.yaml`, 'utf8');
const SERVER_SIDE = ['apply', '--server-side'];
/** Names that Argo CD and Flux use; what they compare is asked of their own code. */
const MANAGERS = ['argocd-controller', 'kustomize-controller'];
const WITHIN_MS = 240_000;
const OVERLAYS = [
  'base',
  'overlays/second-scheduler',
  'overlays/control-plane-extender',
  'overlays/node-controller',
  'overlays/disruption-record',
  'overlays/queues',
  'overlays/rescheduling',
  'overlays/dashboard',
  'overlays/admission-both',
];

interface Manifest {
  readonly kind: string;
  readonly spec: object;
}

const why = whyNoOwnCluster(process.env) ?? whyNoGitOps(process.env);

describe.skipIf(why !== undefined)(`two field managers${why ?? ''}`, { timeout: WITHIN_MS }, () => {
  const own = ownCluster();
  const kubectl = (args: readonly string[], input?: string) => runKubectl(own().cluster.kubeconfig, args, input);
  const applyAs = (manager: string, folder: string) =>
    kubectl([...SERVER_SIDE, `--field-manager=${manager}`, '-k', `${DEPLOY}${folder}`]);

  test.each(OVERLAYS)('apply deploy/%s without a conflict, and find no difference', async (folder) => {
    const manifests = await builtManifests(own().cluster.kubeconfig, folder);
    // Another overlay turns other parts of the same controller on.
    await kubectl(['delete', 'deployment', 'plimsoll-controller', '-n', 'plimsoll-system', '--ignore-not-found']);
    for (const manager of MANAGERS) {
      await applyAs(manager, folder);
      expect(await differences(manifests)).toEqual([]);
    }
  });

  test('each comparison finds a difference where there is one', async () => {
    await applyAs('kustomize-controller', 'base');
    const manifests = (await builtManifests(own().cluster.kubeconfig, 'base')) as readonly Manifest[];
    const changed = manifests
      .filter(({ kind }) => kind === 'Deployment')
      .map((each) => ({ ...each, spec: { ...each.spec, replicas: 7 } }));
    const { differences: found } = await whatDiffers(own().cluster.kubeconfig, changed);
    expect(new Set(found.map(({ by }) => by))).toEqual(new Set(WAYS));
  });

  test('after the webhook has written its authority, both leave it alone', async () => {
    await registerCaBundle(own().admin, 'authority', liveReader(own().admin));
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

  /** Each object is compared in each way. */
  async function differences(manifests: readonly unknown[]): Promise<readonly unknown[]> {
    const { compared, differences: found } = await whatDiffers(own().cluster.kubeconfig, manifests);
    expect(compared).toEqual(Object.fromEntries(WAYS.map((way) => [way, manifests.length])));
    return found;
  }
});
