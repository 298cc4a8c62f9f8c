import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { layPlimsollImage } from '#test/cluster/node/image/plimsoll-image.ts';
import type { BillOfMaterials } from '#tools/manifests/image/bill-of-materials.ts';
import { type BuiltImage, buildImage } from './build-image.ts';
import { describeFiles, type FileDescription } from './describe-files.ts';
import { imageProcesses } from './image-processes.ts';
import { whyNoBuildah } from './run-buildah.ts';

const MEBIBYTE = 1_048_576;
const MAX_MEBIBYTES = 80;
/** V8 compiles with a hash seed that differs from process to process, so its code is never the same to the byte. */
const COMPILED = /^var\/tmp\/compile-cache\/./;
/** What npm makes besides the files of packages; the images of test nodes go without. */
const OF_NPM = /^node_modules\/(?:\.package-lock\.json|(?:.*\/)?\.bin(?:\/|$))/;
const PACKAGE = /(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/@.][^/]*\/package\.json$/;
const WITHIN_MS = 300_000;
const why = whyNoBuildah(process.env);

describe.skipIf(why !== undefined)(`the image of deploy/Dockerfile${why ?? ''}`, { timeout: WITHIN_MS }, () => {
  let folder: string;
  let image: BuiltImage;
  /** Before anything is mounted in it. */
  let files: ReadonlyMap<string, FileDescription>;
  const subfolder = (name: string): string => {
    mkdirSync(join(folder, name));
    return join(folder, name);
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
    image = await buildImage(subfolder('first'));
    files = describeFiles(image.root);
  }, WITHIN_MS);
  afterAll(() => rmSync(folder, { recursive: true }));

  test(`has at most ${MAX_MEBIBYTES} MiB, compressed`, () => {
    expect(image.compressedBytes / MEBIBYTE).toBeLessThan(MAX_MEBIBYTES);
  });

  test('starts as the user of the pods, in the folder of the entry points', () => {
    expect(image.config).toMatchObject({ User: '65532:65532', WorkingDir: '/app' });
  });

  test('is the same when it is built again, all but compiled code', async () => {
    const again = await buildImage(subfolder('second'));
    expect(files.size).toBeGreaterThan(1_000);
    expect(withoutCompiled(describeFiles(again.root))).toEqual(withoutCompiled(files));
  });

  test('has the packages of its bill of materials, and no other', () => {
    const manifests = [...files.keys()].filter((path) => PACKAGE.test(path));
    const found = manifests.map((path) => JSON.parse(readFileSync(join(image.root, path), 'utf8')) as Package);
    const { components } = JSON.parse(
      readFileSync(join(image.root, 'app/deploy/image/sbom.cdx.json'), 'utf8'),
    ) as BillOfMaterials;
    const listed = components.filter(({ type }) => type === 'library').map((each) => each['bom-ref']);
    expect([...new Set(found.map(({ name, version }) => `${name}@${version}`))].toSorted()).toEqual(listed.toSorted());
  });

  test('has the files that test nodes run', () => {
    const laid = subfolder('laid');
    layPlimsollImage(laid);
    expect(contents(join(laid, 'app'))).toEqual(contents(join(image.root, 'app')));
  });

  imageProcesses(() => image);
});

interface Package {
  readonly name: string;
  readonly version: string;
}

function withoutCompiled<T>(files: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return new Map([...files].filter(([path]) => !COMPILED.test(path)));
}

function contents(app: string): ReadonlyMap<string, string> {
  const files = [...describeFiles(app)].filter(([path, { content }]) => content !== 'folder' && !OF_NPM.test(path));
  return new Map(files.map(([path, { content }]) => [path, content]));
}
