import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { bundleCli, makeExecutable } from '#tools/bundle/bundle-cli.ts';
import { packForKrew } from '#tools/bundle/krew.ts';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { createAuthority } from '#shared/http/certificates.ts';
import { createObject } from '#shared/kube/client/objects.ts';
import { MUTATING_WEBHOOKS, NODE_PRESSURES, NODES } from '#shared/kube/resource.ts';
import { sandboxCluster } from '#test/cli/sandbox-cluster.ts';

const SOURCES = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
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

/** What the manifest of a plugin says to krew. */
interface KrewManifest {
  readonly spec: { readonly version: string; readonly platforms: readonly [KrewPlatform] };
}

interface KrewPlatform {
  readonly uri: string;
  readonly sha256: string;
  readonly bin: string;
  readonly files: readonly { readonly from: string; readonly to: string }[];
}

describe('the plugin for krew', () => {
  test('is what its manifest says, and works as kubectl-plimsoll on the PATH', async () => {
    const { archive, manifest } = packForKrew(bundle, join(folder, 'krew'), 'https://example.test/releases/');
    const { spec } = parse(readFileSync(manifest, 'utf8')) as KrewManifest;
    const [{ uri, sha256, bin, files }] = spec.platforms;
    expect(uri).toBe(`https://example.test/releases/kubectl-plimsoll-${spec.version.slice(1)}.tar.gz`);
    expect(createHash('sha256').update(readFileSync(archive)).digest('hex')).toBe(sha256);
    const installed = join(folder, 'installed');
    mkdirSync(installed);
    execFileSync('tar', ['-C', installed, '-xzf', archive, ...files.map(({ from }) => from)]);
    expect((await run(join(installed, bin), ['top', '--help'])).stdout).toMatch(/^Usage: kubectl plimsoll top /);
  });

  test('is the same for the same bundle, whenever and by whomever it is packed', () => {
    const { archive } = packForKrew(bundle, join(folder, 'one'), 'https://x');
    const entries = execFileSync('tar', ['--utc', '--numeric-owner', '-tvzf', archive], { encoding: 'utf8' });
    expect(
      entries
        .trim()
        .split('\n')
        .map((line) => line.replace(/ +\d+ 1970/, ' 1970')),
    ).toEqual(['-rw-r--r-- 0/0 1970-01-01 00:00 LICENSE', '-rwxr-xr-x 0/0 1970-01-01 00:00 kubectl-plimsoll']);
  });
});

describe('against an API server', () => {
  const authority = createAuthority({ commonName: 'test', days: 900, now: Date.now() });
  const caBundle = Buffer.from(authority.certPem).toString('base64');
  const { kubeconfig } = sandboxCluster(async (client) => {
    await installPlimsoll(client);
    await createObject(client, { resource: NODES }, { metadata: { name: 'node-1' } });
    await createObject(client, { resource: NODE_PRESSURES }, { metadata: { name: 'node-1' } });
    const entry = { name: 'priority.plimsoll.dev', clientConfig: { url: 'https://127.0.0.1:1', caBundle } };
    const webhooks = [{ ...entry, sideEffects: 'None', admissionReviewVersions: ['v1'] }];
    await createObject(client, { resource: MUTATING_WEBHOOKS }, { metadata: { name: 'plimsoll' }, webhooks });
  });
  const programs = ['the bundle', 'the executable'] as const;
  const fileOf = { 'the bundle': () => bundle, 'the executable': () => join(folder, 'plimsoll') };
  const environment = { 'the bundle': {}, 'the executable': { PATH: '' } };
  beforeAll(() => void makeExecutable(bundle, join(folder, 'plimsoll')));

  test.each(
    programs.flatMap((program) =>
      [
        ['check', '-o', 'json'],
        ['top', 'nodes', '-o', 'json'],
        ['top', 'priorities'],
        ['review', '-f', 'POD'],
        ['simulate', 'preempt', '--pod-file', 'POD'],
      ].map((words) => [program, words] as const),
    ),
  )('%s answers %j as the sources do, on the oldest Node.js and without any', async (program, words) => {
    const args = words.map((word) => (word === 'POD' ? join(folder, 'pod.json') : word));
    const expected = await run(process.execPath, [SOURCES, ...args, '--kubeconfig', kubeconfig]);
    // With flags in front of the command, as kubectl takes them.
    const found = await run(fileOf[program](), ['--kubeconfig', kubeconfig, ...args], environment[program]);
    expect(found).toEqual(expected);
    expect(expected.stdout + expected.stderr).not.toMatch(/cannot be read|internal|at file/);
  });
});
