import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { at } from '#test/contract/harness.ts';
import { nameOf } from '#test/cluster/installed/support/built-manifests.ts';
import { helm, whyNoHelm } from '#test/cluster/installed/support/helm.ts';
import { runProgram } from '#test/cluster/support/run-program.ts';
import { makeRelease } from '#tools/release/make-release.ts';
import { readSource } from '#tools/release/source.ts';
import { makeBaseImages } from './base-images.ts';
import { type Buildah, buildahIn, whyNoBuildah } from './run-buildah.ts';

const WITHIN_MS = 300_000;
const BASE = 'base.test/libraries:1';
const why = whyNoBuildah(process.env) ?? whyNoHelm(process.env);

describe.skipIf(why !== undefined)(`a release${why ?? ''}`, { timeout: WITHIN_MS }, () => {
  let folder = '';
  let digest = '';
  let buildah: Buildah;
  const path = (name: string): string => join(folder, name);

  beforeAll(async () => {
    // Names of images, which layouts are to buildah, are in lower case.
    folder = join(tmpdir(), `plimsoll-test-${process.pid}`);
    mkdirSync(folder);
    buildah = buildahIn(folder);
    await makeBaseImages(buildah, [BASE], path('bases'));
    await buildah('push', '--quiet', BASE, `oci:${path('base')}:1`);
    digest = await makeRelease(path('release'), {
      version: '0.1.0',
      source: readSource(),
      repository: 'registry.test/plimsoll',
      builder: 'https://test',
      // The Node of this machine, for its own architecture.
      node: { amd64: { content: readFileSync(process.execPath), packageName: 'node', sha512: '' } },
      base: path('base'),
    });
  }, WITHIN_MS);
  afterAll(() => rmSync(folder, { recursive: true }));

  test('has an image that other tools take, and whose processes start', async () => {
    await buildah('pull', '--quiet', `oci:${path('release/image')}:0.1.0`);
    const container = await buildah('from', '--pull-never', `oci:${path('release/image')}:0.1.0`);
    for (const main of ['webhook', 'agent', 'scheduler']) {
      const printed = await buildah(
        'run',
        '--isolation',
        'chroot',
        container,
        '--',
        'node',
        `${main}/main.ts`,
        '--help',
      );
      expect(printed).toContain('--kubeconfig');
    }
  });

  test('has a chart that helm installs with that image', async () => {
    const rendered = await helm(['template', 'plimsoll', path('release/plimsoll-0.1.0.tgz'), '--namespace', 'default']);
    const objects = parseAllDocuments(rendered.stdout).map((each) => each.toJS() as unknown);
    const webhook = objects.find(
      (each) => each !== null && nameOf(each) === 'Deployment plimsoll-system/plimsoll-webhook',
    );
    expect(at(webhook, 'spec.template.spec.containers.0.image')).toBe(`registry.test/plimsoll@${digest}`);
    expect(await helm(['lint', '--strict', path('release/plimsoll-0.1.0.tgz')])).toMatchObject({ status: 0 });
    expect(runProgram('tar', ['-t', '-f', path('release/plimsoll-0.1.0.tgz')])).toContain(
      'plimsoll/templates/webhook.yaml',
    );
  });
});
