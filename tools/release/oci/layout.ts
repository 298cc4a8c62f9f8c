import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What an OCI manifest or index says about a blob. */
export interface Descriptor {
  readonly mediaType: string;
  /** `sha256:…`. */
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly os: string; readonly architecture: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

export const MEDIA_TYPES = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  chartConfig: 'application/vnd.cncf.helm.config.v1+json',
  chart: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
} as const;

const TAG = 'org.opencontainers.image.ref.name';

/** `sha256:…` of a content. */
export function digestOf(content: Buffer | string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** Creates an OCI image layout in a folder. */
export class Layout {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(join(folder, 'blobs/sha256'), { recursive: true });
    writeFileSync(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  }

  /** Adds a blob. */
  add(mediaType: string, content: Buffer | string): Descriptor {
    const digest = digestOf(content);
    writeFileSync(blobFile(this.folder, digest), content);
    return { mediaType, digest, size: Buffer.byteLength(content) };
  }

  /** Adds a manifest or an index, as JSON. */
  addJson(mediaType: string, content: object): Descriptor {
    return this.add(mediaType, JSON.stringify(content));
  }

  /** Gives the layout its only tag. */
  tag(descriptor: Descriptor, name: string): void {
    const manifests = [{ ...descriptor, annotations: { [TAG]: name } }];
    const index = { schemaVersion: 2, mediaType: MEDIA_TYPES.index, manifests };
    writeFileSync(join(this.folder, 'index.json'), JSON.stringify(index));
  }
}

/** The path of a blob in a layout. */
function blobFile(folder: string, digest: string): string {
  return join(folder, 'blobs', digest.replace(':', '/'));
}

/** Reads a blob, whose digest must be right. */
export function readBlob(folder: string, digest: string): Buffer {
  const content = readFileSync(blobFile(folder, digest));
  if (digestOf(content) !== digest) throw new Error(`cannot use ${folder}: the blob ${digest} has another digest`);
  return content;
}

/** The descriptors of a layout's manifests, those of nested indexes included. */
export function manifestsIn(folder: string): readonly Descriptor[] {
  const manifestsOf = (text: string): readonly Descriptor[] =>
    (JSON.parse(text) as { readonly manifests: readonly Descriptor[] }).manifests.flatMap((each) =>
      each.mediaType === MEDIA_TYPES.index ? manifestsOf(readBlob(folder, each.digest).toString()) : [each],
    );
  return manifestsOf(readFileSync(join(folder, 'index.json'), 'utf8'));
}
