import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bundleCli, makeExecutable } from '#tools/bundle/bundle-cli.ts';
import { packForKrew } from '#tools/bundle/krew.ts';
import { itemsIn, runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { runKubectl } from '#test/cluster/installed/support/run-kubectl.ts';
import { accountKubeconfig } from '#test/cluster/support/accounts.ts';
import { readPage } from '#test/docs/pages.ts';
import { answersShown, makeTenantScene, QUESTIONS, withoutTimes } from './tenant-scene.ts';
import { eventually } from '#test/build/waiting.ts';
import { findBinaries } from '#test/cluster/support/control-plane/binaries.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';

const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url));
const COMPONENTS = [
  'scheduler-second',
  'control-plane-extender',
  'controller',
  'node-controller',
  'dashboard',
  'dashboards',
];
const TENANT = { namespace: 'default', name: 'tenant' };
const WITHIN_MS = 240_000;
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default' },
  spec: { containers: [{ name: 'main', image: 'app' }] },
};

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
      'OK version',
      'OK admission',
      'OK caller',
    ]);
  }, 60_000);

  test('kubectl finds the bundle on the PATH as its plugin', async () => {
    const folder = `${own().cluster.folder}/plugin`;
    const bundle = join(own().cluster.folder, 'plimsoll.cjs');
    await bundleCli(bundle);
    const { archive } = packForKrew(bundle, folder, 'https://example.test');
    execFileSync('tar', ['-C', folder, '-xzf', archive]);
    const binaries = findBinaries(process.env);
    if (binaries.kind === 'missing') throw new Error(binaries.because);
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` };
    const plugin = (...args: readonly string[]) =>
      execFileSync(binaries.paths.kubectl, ['plimsoll', ...args], { env, encoding: 'utf8' });
    expect(JSON.parse(plugin('top', 'priorities', '-o', 'json'))).toMatchObject({ kind: 'PrioritySummaryList' });
    expect(plugin('--help')).toMatch(/^Usage: kubectl plimsoll /);
  }, 60_000);

  test.each([
    ['check', '-o', 'json'],
    ['top', 'priorities'],
    ['review', '-f', 'POD'],
    ['simulate', 'preempt', '--pod-file', 'POD'],
  ])(
    '%s is answered by the bundle and the executable as by the sources',
    async (...words) => {
      const { folder, kubeconfig } = own().cluster;
      const [bundle, executable, pod] = ['answers.cjs', 'plimsoll', 'pod.json'].map((name) => join(folder, name));
      if (!existsSync(executable ?? '')) {
        await bundleCli(bundle ?? '');
        makeExecutable(bundle ?? '', executable ?? '');
        writeFileSync(pod ?? '', JSON.stringify(POD));
      }
      const args = [...words.map((word) => (word === 'POD' ? (pod ?? '') : word)), '--kubeconfig', kubeconfig];
      const expected = await runPlimsoll(args);
      for (const [program, env] of [
        [bundle, process.env],
        [executable, { PATH: '' }],
      ] as const) {
        const { status, stdout, stderr } = spawnSync(program ?? '', args, { env, encoding: 'utf8' });
        expect({ code: status, stdout, stderr }).toEqual(expected);
      }
      expect(expected.code === 0 || expected.code === 1).toBe(true);
    },
    120_000,
  );

  test('--as asks with the rights of another user', async () => {
    const { code, findings } = await check('--pre-install', '--as', 'alice', '--as-group', 'dev');
    expect(code).toBe(1);
    expect(findings.map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/^you may not list nodes, .*"alice"/),
    );
  }, 60_000);

  test('check --pre-install names the rights that a tenant lacks', async () => {
    await kubectl('create', 'serviceaccount', TENANT.name);
    const kubeconfig = await accountKubeconfig(own(), TENANT);
    const { code, findings } = await check('--pre-install', '--kubeconfig', kubeconfig);
    const texts = findings.filter(({ level }) => level === 'Error').map(({ text }) => text);
    expect(code).toBe(1);
    expect(texts).toContain('you may not create customresourcedefinitions.apiextensions.k8s.io');
    expect(texts).toContain('you may not escalate clusterroles.rbac.authorization.k8s.io');
    expect(texts.filter((text) => text.startsWith('you may not list '))).toHaveLength(1);
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

  describe('a person with the role view in one namespace', () => {
    beforeAll(async () => {
      await makeTenantScene((args, input) => runKubectl(own().cluster.kubeconfig, args, input));
    }, WITHIN_MS);

    const ask = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await runPlimsoll([...args, '-n', 'shop', '--as=anna']);
      return { code, text: `${stdout}${stderr}` };
    };

    test.each(QUESTIONS)(
      '%s',
      async (_, args, ...answers) => {
        const { code, text } = await ask(...args.split(' '));
        expect({ code, text }).toMatchObject({ code: 0 });
        for (const answer of answers) expect(text).toContain(answer);
        const shown = answersShown(readPage('docs/application-teams.md')).get(args) ?? ['(the page shows no answer)'];
        for (const line of shown) expect(withoutTimes(text)).toContain(withoutTimes(line));
      },
      60_000,
    );

    test('is told which roles show the rest', async () => {
      const { text } = await ask('explain', 'pod', 'waiting');
      expect(text).toContain('the ClusterRoles view and plimsoll-cluster-viewer, bound by a ClusterRoleBinding');
      await kubectl('create', 'clusterrolebinding', 'anna-view', '--clusterrole=view', '--user=anna');
      await kubectl('create', 'clusterrolebinding', 'anna-plimsoll', '--clusterrole=plimsoll-viewer', '--user=anna');
      await kubectl('create', 'clusterrolebinding', 'anna-all', '--clusterrole=plimsoll-cluster-viewer', '--user=anna');
      await eventually(async () => {
        const { code, text: full } = await ask('explain', 'pod', 'waiting');
        expect({ code, full }).toEqual({
          code: 0,
          full: expect.stringContaining('Protected from eviction') as unknown,
        });
      }, 20_000);
    }, 60_000);
  });
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
