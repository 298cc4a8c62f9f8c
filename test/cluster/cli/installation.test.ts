import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bundleCli } from '#tools/bundle/bundle-cli.ts';
import { itemsIn, runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { runKubectl } from '#test/cluster/installed/support/run-kubectl.ts';
import { accountToken, writeKubeconfig } from '#test/cluster/support/accounts.ts';
import { findBinaries } from '#test/cluster/support/control-plane/binaries.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';

const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url));
const COMPONENTS = ['scheduler-second', 'control-plane-extender', 'node-controller', 'dashboard', 'dashboards'];
const TENANT = { namespace: 'default', name: 'tenant' };
const WITHIN_MS = 240_000;

interface Uninstallation {
  readonly removed: readonly { readonly resource: string; readonly name: string }[];
}

interface Finding {
  readonly level: string;
  readonly subject: string;
  readonly text: string;
}

const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`the commands about an installation${why ?? ''}`, () => {
  const own = ownCluster();
  const kubectl = (...args: readonly string[]) => runKubectl(own().cluster.kubeconfig, args);
  beforeAll(() => {
    vi.stubEnv('KUBECONFIG', own().cluster.kubeconfig);
  });
  afterAll(() => {
    vi.unstubAllEnvs();
  });

  async function check(...args: readonly string[]) {
    const { code, stdout } = await runPlimsoll(['check', '-o', 'json', ...args]);
    return { code, findings: itemsIn(stdout) as readonly Finding[] };
  }

  test('check --pre-install says that it can be installed', async () => {
    const { code, findings } = await check('--pre-install');
    expect(code).toBe(0);
    expect(findings.map(({ level, subject }) => `${level} ${subject}`)).toEqual([
      ...['OK version', 'OK admission', 'OK caller'],
    ]);
  }, 60_000);

  test('kubectl finds the bundle on the PATH as its plugin', async () => {
    const folder = `${own().cluster.folder}/plugin`;
    await bundleCli(join(folder, 'kubectl-plimsoll'));
    const binaries = findBinaries(process.env);
    if (binaries.kind === 'missing') throw new Error(binaries.because);
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` };
    const plugin = (...args: readonly string[]) =>
      execFileSync(binaries.paths.kubectl, ['plimsoll', ...args], { env, encoding: 'utf8' });
    expect(JSON.parse(plugin('top', 'priorities', '-o', 'json'))).toMatchObject({ kind: 'PrioritySummaryList' });
    expect(plugin('--help')).toMatch(/^Usage: kubectl plimsoll /);
  }, 60_000);

  test('check --pre-install names the rights that a tenant lacks', async () => {
    const { admin, connection, cluster } = own();
    await kubectl('create', 'serviceaccount', TENANT.name);
    const kubeconfig = `${cluster.folder}/tenant.kubeconfig`;
    writeKubeconfig(kubeconfig, connection, await accountToken(admin, TENANT));
    const { code, findings } = await check('--pre-install', '--kubeconfig', kubeconfig);
    const texts = findings.filter(({ level }) => level === 'Error').map(({ text }) => text);
    expect(code).toBe(1);
    expect(texts).toContain('you may not create customresourcedefinitions.apiextensions.k8s.io');
    expect(texts).toContain('you may not escalate clusterroles.rbac.authorization.k8s.io');
    expect(texts.filter((text) => text.startsWith('you may not list nodes:'))).toHaveLength(1);
  }, 60_000);

  test(
    'uninstall lists every object of the manifests, and no other',
    async () => {
      const folder = withComponents(`${own().cluster.folder}/installed`);
      await kubectl('apply', '--server-side', '-k', folder);
      const names = (await kubectl('get', '-k', folder, '-o', 'name')).trim().split('\n');
      const { stdout } = await runPlimsoll(['uninstall', '--dry-run=client', '-o', 'json']);
      const { removed } = JSON.parse(stdout) as Uninstallation;
      const listed = removed.map(({ resource, name }) => `${resource}/${name}`);
      const expected = names.filter((name) => !name.startsWith('customresourcedefinition.'));
      expect(listed.toSorted()).toEqual(expected.toSorted());
      expect(listed.length).toBeGreaterThan(60);
    },
    WITHIN_MS,
  );
});

/** A kustomization of nearly everything that can be installed together, in a new folder. */
function withComponents(folder: string): string {
  mkdirSync(folder);
  const parts = relative(realpathSync(folder), realpathSync(DEPLOY));
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [`${parts}/overlays/high-availability`],
    components: COMPONENTS.map((name) => `${parts}/components/${name}`),
  };
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
  return folder;
}
