import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleCli, makeExecutable } from '#tools/bundle/bundle-cli.ts';
import { startTestSandbox } from '#test/build/test-sandbox.ts';

/** The Node.js of this machine, which may be older than the one that runs the tests. */
const NODE = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .map((folder) => join(folder, 'node'))
  .find((file) => existsSync(file));
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'team-a' },
  spec: { priorityClassName: 'no-such-class', containers: [{ name: 'main', image: 'app' }] },
};

let folder = '';
let bundle = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-bundle-'));
  bundle = join(folder, 'plimsoll.cjs');
  await bundleCli(bundle);
  writeFileSync(join(folder, 'pod.json'), JSON.stringify(POD));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program outside the checkout, with nothing on the PATH but Node.js. */
async function run(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(file, args, {
    cwd: folder,
    env: { HOME: folder, PATH: NODE === undefined ? '' : join(NODE, '..'), ...env },
  });
  const exit = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { status, stdout, stderr };
}

describe('the bundled command line', () => {
  test('says of which commit it is', async () => {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
    const { stdout } = await run(bundle, ['version', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'Version', version: '0.1.0', commit });
    expect((await run(bundle, ['--version'])).stdout).toBe((await run(bundle, ['version'])).stdout);
  });

  test('needs nothing but Node.js, under any name', async () => {
    const plugin = join(folder, 'kubectl-plimsoll');
    copyFileSync(bundle, plugin);
    expect((await run(plugin, ['--help'])).stdout).toMatch(/^Usage: kubectl plimsoll /);
    const refused = await run(plugin, ['review', '-f', 'pod.json']);
    expect(refused).toMatchObject({ status: 1, stderr: '' });
    expect(refused.stdout).toContain('no-such-class');
  });

  test('is the same for the same commit', async () => {
    const again = join(folder, 'again.cjs');
    await bundleCli(again);
    expect(readFileSync(again).equals(readFileSync(bundle))).toBe(true);
  });

  test('as an executable needs nothing at all', async () => {
    const executable = join(folder, 'plimsoll');
    makeExecutable(bundle, executable);
    const refused = await run(executable, ['review', '-f', 'pod.json'], { PATH: '' });
    expect(refused).toMatchObject({ status: 1 });
    expect(refused.stdout).toContain('no-such-class');
  });

  test('reads a cluster by its kubeconfig, with flags in front of the command, too', async () => {
    const sandbox = await startTestSandbox();
    try {
      const { kubeconfigFile } = sandbox;
      const flags = ['--kubeconfig', kubeconfigFile, '--request-timeout=10'];
      const found = await run(bundle, [...flags, '-o', 'json', 'top', 'priorities']);
      expect(found).toMatchObject({ status: 0, stderr: '' });
      expect(JSON.parse(found.stdout)).toMatchObject({ kind: 'PrioritySummaryList' });
    } finally {
      await sandbox.stop();
    }
  });

  test('says plainly that there is no kubeconfig', async () => {
    expect(await run(bundle, ['top', 'nodes'])).toEqual({
      status: 2,
      stdout: '',
      stderr:
        'error: no kubeconfig: neither $KUBECONFIG nor ~/.kube/config names a cluster; name a file with --kubeconfig\n',
    });
  });

  test('is all that the package holds, besides what npm adds', () => {
    const printed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      encoding: 'utf8',
      env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
    });
    const [packed] = JSON.parse(printed) as readonly { readonly files: readonly { readonly path: string }[] }[];
    const files = packed?.files.map(({ path }) => path).filter((path) => path !== 'dist/plimsoll.cjs');
    expect(files?.sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
  });
});
