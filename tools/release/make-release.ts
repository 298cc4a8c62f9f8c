import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { bundleCli } from '#tools/bundle/bundle-cli.ts';
import { CHART_SOURCES, chartArtifacts } from '#tools/manifests/chart-artifacts.ts';
import { imageArtifacts } from '#tools/manifests/image/image-artifacts.ts';
import { installManifest } from '#tools/manifests/manifest-artifacts.ts';
import { changelog } from './changelog.ts';
import { imageFiles } from './image-files.ts';
import type { NodeExecutable } from './node-executables.ts';
import { addChart, chartArchive, type ChartDescription } from './oci/chart.ts';
import { addImage, ARCHITECTURES, type Architecture, baseDigest, type ImageParts } from './oci/image.ts';
import { Layout } from './oci/layout.ts';
import { provenance, type Resource } from './provenance.ts';
import { checksums, STATEMENT, SUMS } from './sign.ts';
import type { ReleaseSource } from './source.ts';

/** The inputs of a release in addition to the checkout. */
export interface ReleaseInputs {
  readonly version: string;
  readonly source: ReleaseSource;
  /** Image name in install.yaml and the chart, without tag. */
  readonly repository: string;
  readonly builder: string;
  readonly node: Readonly<Partial<Record<Architecture, NodeExecutable>>>;
  /** OCI layout of the base image. */
  readonly base?: string;
}

const IMAGE_LINE = /^(?<indent>\s*(?:- )?image: )plimsoll:\S+$/gm;

/** Writes a release into a folder, which is emptied first, and returns the digest of the image. */
export async function makeRelease(folder: string, inputs: ReleaseInputs): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { version, source, repository } = inputs;
  const write = (name: string, content: string | Buffer): void => writeFileSync(join(folder, name), content);
  const { digest } = addTagged(folder, 'image', version, (layout) => addImage(layout, partsOf(inputs)));
  const chart = packChart(repository, digest);
  const description = parse(readFileSync(`${CHART_SOURCES}Chart.yaml`, 'utf8')) as ChartDescription;
  addTagged(folder, 'chart', version, (layout) => addChart(layout, description, chart, source.date));
  write(`plimsoll-${version}.tgz`, chart);
  write('install.yaml', withImage(installManifest(), `${repository}@${digest}`));
  write('CHANGELOG.md', changelog(version, source.date.slice(0, 10), source.commits));
  for (const { path, text } of imageArtifacts()) write(path, text);
  await bundleCli(resolve(folder, 'plimsoll.cjs'));
  const build = { version, repository, commit: source.commit, builder: inputs.builder, materials: materialsOf(inputs) };
  write(STATEMENT, `${JSON.stringify(provenance(build, subjects(folder, repository, digest)), undefined, 2)}\n`);
  write(SUMS, checksums(folder));
  return digest;
}

function addTagged(folder: string, name: string, tag: string, add: (layout: Layout) => ReturnType<typeof addImage>) {
  const layout = new Layout(join(folder, name));
  const descriptor = add(layout);
  layout.tag(descriptor, tag);
  return descriptor;
}

function partsOf({ version, source, node, base }: ReleaseInputs): ImageParts {
  const executables = Object.entries(node).map(([architecture, { content }]) => [architecture, content] as const);
  return {
    ...imageFiles(),
    node: Object.fromEntries(executables),
    ...(base !== undefined && { base }),
    labels: {
      'org.opencontainers.image.title': 'plimsoll',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': source.commit,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    },
    created: source.date,
  };
}

/** The chart, whose values name the image by its digest. */
function packChart(repository: string, digest: string): Buffer {
  const files = chartArtifacts().map(({ path, text }) => ({
    path,
    content: Buffer.from(path === 'values.yaml' ? withDigest(text) : text),
  }));
  return chartArchive('plimsoll', files);

  function withDigest(values: string): string {
    const text = replaced(values, /^ {2}repository: plimsoll$/m, `  repository: ${repository}`);
    return replaced(text, /^ {2}digest: ''$/m, `  digest: ${digest}`);
  }
}

function withImage(manifests: string, image: string): string {
  return replaced(manifests, IMAGE_LINE, `$<indent>${image}`);
}

/** Throws if there is nothing to replace: a release with the wrong image would be worse than none. */
function replaced(text: string, pattern: RegExp, replacement: string): string {
  if (text.search(pattern) === -1) throw new Error(`cannot name the image: nothing matches ${pattern}`);
  return text.replace(pattern, replacement);
}

function materialsOf({ node, base }: ReleaseInputs): readonly Resource[] {
  const built = ARCHITECTURES.filter((architecture) => node[architecture] !== undefined);
  return [
    { name: 'package-lock.json', digest: { sha256: sha256(readFileSync('package-lock.json')) } },
    ...built.flatMap((architecture) => {
      const found = node[architecture];
      return found === undefined ? [] : [{ name: found.packageName, digest: { sha512: found.sha512 } }];
    }),
    ...(base === undefined ? [] : built).map((architecture) => ({
      name: `base image, ${architecture}`,
      digest: { sha256: baseDigest(base ?? '', architecture).replace('sha256:', '') },
    })),
  ];
}

/** The image, and every file that is there so far but the layouts, which the image and the chart stand for. */
function subjects(folder: string, repository: string, digest: string): readonly Resource[] {
  const files = checksums(folder).trimEnd().split('\n');
  const named = files.map((line) => ({ name: line.slice(66), digest: { sha256: line.slice(0, 64) } }));
  const image = { name: repository, digest: { sha256: digest.replace('sha256:', '') } };
  return [image, ...named.filter(({ name }) => !name.includes('/'))];
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
