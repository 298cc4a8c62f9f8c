import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { at } from '#test/contract/harness.ts';
import { makeRelease, type ReleaseInputs } from '#tools/release/make-release.ts';
import { Layout, manifestsIn, MEDIA_TYPES, readBlob } from '#tools/release/oci/layout.ts';
import { fileInTar, tarOf } from '#tools/release/oci/tar.ts';
import { signRelease, verifyRelease } from '#tools/release/sign.ts';

const LIBRARY = { path: 'lib/libc', content: Buffer.from('libc') };
const NODE = { packageName: 'node', sha512: 'ab' };

let folder = '';
let digest = '';
const path = (...parts: readonly string[]): string => join(folder, ...parts);
const read = (...parts: readonly string[]): string => readFileSync(path(...parts), 'utf8');

function inputs(): ReleaseInputs {
  return {
    version: '1.2.3',
    source: {
      commit: 'c0ffee',
      date: '2026-01-02T03:04:05Z',
      changed: [],
      commits: [{ hash: '0123456789', subject: 'feat: one', body: '' }],
    },
    repository: 'registry.test/plimsoll',
    builder: 'https://builder.test',
    node: {
      amd64: { ...NODE, content: Buffer.from('node for amd64') },
      arm64: { ...NODE, content: Buffer.from('node for arm64') },
    },
    base: path('base'),
  };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-release-'));
  layBase(path('base'));
  digest = await makeRelease(path('first'), inputs());
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A base image for both architectures. */
function layBase(of: string): void {
  const layout = new Layout(of);
  const layers = [layout.add('application/vnd.oci.image.layer.v1.tar', tarOf([LIBRARY]))];
  const manifests = ['amd64', 'arm64'].map((architecture) => {
    const config = layout.addJson(MEDIA_TYPES.config, { architecture });
    return { ...layout.addJson(MEDIA_TYPES.manifest, { config, layers }), platform: { os: 'linux', architecture } };
  });
  layout.tag(layout.addJson(MEDIA_TYPES.index, { manifests }), 'base');
}

describe('a release', () => {
  test('has the same bytes when it is made again, without the network', async () => {
    expect(await makeRelease(path('second'), inputs())).toBe(digest);
    expect(contentsOf(path('second'))).toEqual(contentsOf(path('first')));
    expect(contentsOf(path('first')).size).toBeGreaterThan(15);
  });

  test('has an image for both architectures, by digest, on the base image', () => {
    const image = path('first/image');
    const index = JSON.parse(readBlob(image, digest).toString()) as { readonly manifests: readonly object[] };
    expect(index.manifests.map((each) => at(each, 'platform.architecture'))).toEqual(['amd64', 'arm64']);
    for (const each of manifestsIn(image)) {
      const manifest = JSON.parse(readBlob(image, each.digest).toString()) as object;
      const layers = (at(manifest, 'layers') as readonly { readonly digest: string }[]).map((layer) =>
        readBlob(image, layer.digest),
      );
      const [base, node, app] = layers.map((layer) => (layer[0] === 0x1f ? gunzipSync(layer) : layer));
      expect(fileInTar(base ?? Buffer.alloc(0), 'lib/libc')?.toString()).toBe('libc');
      const executable = fileInTar(node ?? Buffer.alloc(0), 'usr/local/bin/node')?.toString();
      expect(executable).toBe(`node for ${String(at(each, 'platform.architecture'))}`);
      const main = fileInTar(app ?? Buffer.alloc(0), 'app/webhook/main.ts');
      expect(main?.toString()).toBe(readFileSync('webhook/main.ts', 'utf8'));
      const config = readBlob(image, String(at(manifest, 'config.digest'))).toString();
      expect(at(JSON.parse(config), 'config')).toMatchObject({ User: '65532:65532', WorkingDir: '/app' });
      expect(at(JSON.parse(config), 'rootfs.diff_ids')).toEqual(
        [base, node, app].map((layer) => `sha256:${sha256(layer ?? Buffer.alloc(0))}`),
      );
    }
  });

  test('names that image in the manifests and in the values of the chart', () => {
    const objects = parseAllDocuments(read('first/install.yaml')).map((each) => each.toJS() as unknown);
    const images = objects.flatMap((object) => at(object, 'spec.template.spec.containers.0.image') ?? []);
    expect(images).toEqual(Array<string>(2).fill(`registry.test/plimsoll@${digest}`));
    const chart = gunzipSync(readFileSync(path('first/plimsoll-1.2.3.tgz')));
    const values = parse(fileInTar(chart, 'plimsoll/values.yaml')?.toString() ?? '') as object;
    expect(at(values, 'image')).toMatchObject({ repository: 'registry.test/plimsoll', digest });
  });

  test('has the chart as an OCI artifact too', () => {
    const chart = path('first/chart');
    const [descriptor] = manifestsIn(chart);
    const manifest: unknown = JSON.parse(readBlob(chart, descriptor?.digest ?? '').toString());
    expect(at(manifest, 'config.mediaType')).toBe(MEDIA_TYPES.chartConfig);
    const archive = readBlob(chart, String(at(manifest, 'layers.0.digest')));
    expect(archive.equals(readFileSync(path('first/plimsoll-1.2.3.tgz')))).toBe(true);
  });

  test('has checksums that sha256sum finds right', () => {
    const checked = execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: path('first') });
    expect(checked.toString().split('\n')).toHaveLength(contentsOf(path('first')).size);
  });

  test('says from what it was made', () => {
    const statement: unknown = JSON.parse(read('first/provenance.json'));
    const subjects = at(statement, 'subject') as readonly { readonly name: string; readonly digest: object }[];
    expect(subjects[0]).toEqual({ name: 'registry.test/plimsoll', digest: { sha256: digest.slice(7) } });
    expect(subjects.map(({ name }) => name)).toContain('install.yaml');
    const materials = at(statement, 'predicate.buildDefinition.resolvedDependencies') as readonly object[];
    expect(materials.map((each) => at(each, 'name'))).toEqual([
      'source',
      'package-lock.json',
      'node',
      'node',
      'base image, amd64',
      'base image, arm64',
    ]);
    expect(at(materials[0], 'digest')).toEqual({ gitCommit: 'c0ffee' });
  });

  test('refuses a base image without the architecture', async () => {
    const layout = new Layout(path('empty'));
    layout.tag(layout.addJson(MEDIA_TYPES.index, { manifests: [] }), 'base');
    await expect(makeRelease(path('third'), { ...inputs(), base: path('empty') })).rejects.toThrow('none for amd64');
  });
});

describe.each([
  ['ECDSA P-256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
  ['Ed25519', () => generateKeyPairSync('ed25519')],
] as const)('a release that is signed with a key of %s', (_, makeKeys) => {
  const { privateKey, publicKey } = makeKeys();
  const publicPem = publicKey.export({ type: 'spki', format: 'pem' });

  beforeAll(() => signRelease(path('first'), privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()));

  test('is found right with the public key, and wrong with another', () => {
    expect(verifyRelease(path('first'), publicPem.toString())).toEqual([]);
    const other = makeKeys().publicKey.export({ type: 'spki', format: 'pem' });
    expect(verifyRelease(path('first'), other.toString())).toEqual([
      'SHA256SUMS is not signed with this key',
      'provenance.json is not signed with this key',
    ]);
  });

  test('is found wrong once a file is changed', () => {
    const before = read('first/install.yaml');
    appendFileSync(path('first/install.yaml'), '# changed\n');
    expect(verifyRelease(path('first'), publicPem.toString())).toEqual(['files differ from SHA256SUMS']);
    writeFileSync(path('first/install.yaml'), before);
  });
});

test('a signature is one that openssl finds right', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  signRelease(path('first'), privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  writeFileSync(path('public.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
  writeFileSync(path('signature'), Buffer.from(read('first/SHA256SUMS.sig'), 'base64'));
  const args = ['dgst', '-sha256', '-verify', path('public.pem'), '-signature', path('signature')];
  expect(execFileSync('openssl', [...args, path('first/SHA256SUMS')]).toString()).toContain('Verified OK');
});

/** Hash of each file, by path. */
function contentsOf(root: string): ReadonlyMap<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map(({ parentPath, name }) => join(parentPath, name));
  return new Map(files.map((file) => [relative(root, file), sha256(readFileSync(file))]));
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
