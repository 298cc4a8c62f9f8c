import { gunzipSync, gzipSync } from 'node:zlib';
import { type Descriptor, digestOf, type Layout, manifestsIn, MEDIA_TYPES, readBlob } from './layout.ts';
import { type TarEntry, tarOf } from './tar.ts';

export const ARCHITECTURES = ['amd64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** What an image is made of. */
export interface ImageParts {
  /** Executable of Node for each architecture to build for. */
  readonly node: Readonly<Partial<Record<Architecture, Buffer>>>;
  /** Files that are the same on all architectures. */
  readonly files: readonly TarEntry[];
  /** `config` of the image. */
  readonly config: { readonly Env: readonly string[]; readonly User: string; readonly WorkingDir: string };
  /** An OCI layout with the base image for each architecture. Without it the image has no C library and does not start. */
  readonly base?: string;
  readonly labels: Readonly<Record<string, string>>;
  /** RFC 3339. */
  readonly created: string;
}

interface Layers {
  readonly layers: readonly Descriptor[];
  /** Digests of the layers before compression. */
  readonly diffIds: readonly string[];
}

/** Adds an image for each architecture and the index of them, which it returns. */
export function addImage(layout: Layout, parts: ImageParts): Descriptor {
  const own = addLayer(layout, parts.files);
  const manifests = ARCHITECTURES.flatMap((architecture) => {
    const node = parts.node[architecture];
    return node === undefined ? [] : [addPlatform(layout, parts, { architecture, node, own })];
  });
  const annotations = parts.labels;
  return layout.addJson(MEDIA_TYPES.index, { schemaVersion: 2, mediaType: MEDIA_TYPES.index, manifests, annotations });
}

function addPlatform(
  layout: Layout,
  { base, config, labels, created }: ImageParts,
  { architecture, node, own }: { architecture: Architecture; node: Buffer; own: Layers },
): Descriptor {
  const path = 'usr/local/bin/node';
  const all = [
    base === undefined ? NO_LAYERS : copyBase(layout, base, architecture),
    addLayer(layout, [{ path, content: node, isExecutable: true }]),
    own,
  ];
  const description = layout.addJson(MEDIA_TYPES.config, {
    created,
    architecture,
    os: 'linux',
    config: { ...config, Labels: labels },
    rootfs: { type: 'layers', diff_ids: all.flatMap(({ diffIds }) => diffIds) },
  });
  const manifest = layout.addJson(MEDIA_TYPES.manifest, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: description,
    layers: all.flatMap(({ layers }) => layers),
  });
  return { ...manifest, platform: { os: 'linux', architecture } };
}

const NO_LAYERS: Layers = { layers: [], diffIds: [] };

function addLayer(layout: Layout, entries: readonly TarEntry[]): Layers {
  const archive = tarOf(entries);
  return { layers: [layout.add(MEDIA_TYPES.layer, gzipSync(archive))], diffIds: [digestOf(archive)] };
}

/** The digest of the base image for an architecture. Throws if the layout has none. */
export function baseDigest(base: string, architecture: Architecture): string {
  const all = manifestsIn(base);
  const found = all.find((each) => each.platform?.architecture === architecture) ?? onlyOf(all, base, architecture);
  if (found === undefined) throw new Error(`cannot use the base image in ${base}: it has none for ${architecture}`);
  return found.digest;
}

/** A layout of one image need not name its platform. */
function onlyOf(all: readonly Descriptor[], base: string, architecture: Architecture): Descriptor | undefined {
  const [only] = all;
  if (only === undefined || all.length > 1) return undefined;
  const { digest } = manifestOf(base, only.digest).config;
  const config = JSON.parse(readBlob(base, digest).toString()) as { readonly architecture?: string };
  return config.architecture === architecture ? only : undefined;
}

function copyBase(layout: Layout, base: string, architecture: Architecture): Layers {
  const { layers } = manifestOf(base, baseDigest(base, architecture));
  const contents = layers.map(({ mediaType, digest }) => ({ mediaType, content: readBlob(base, digest) }));
  return {
    layers: contents.map(({ mediaType, content }) => layout.add(mediaType, content)),
    diffIds: contents.map(({ mediaType, content }) =>
      digestOf(mediaType.endsWith('gzip') ? gunzipSync(content) : content),
    ),
  };
}

interface OciManifest {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

function manifestOf(base: string, digest: string): OciManifest {
  return JSON.parse(readBlob(base, digest).toString()) as OciManifest;
}
