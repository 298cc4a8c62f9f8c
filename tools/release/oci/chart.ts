import { gzipSync } from 'node:zlib';
import { type Descriptor, type Layout, MEDIA_TYPES } from './layout.ts';
import { type TarEntry, tarOf } from './tar.ts';

/** Chart.yaml, as far as it is looked at. */
export interface ChartDescription {
  readonly name: string;
  readonly version: string;
  readonly description: string;
}

/** The archive of a chart, as `helm package` lays it out; paths of the files are relative to the chart. */
export function chartArchive(name: string, files: readonly TarEntry[]): Buffer {
  return gzipSync(tarOf(files.map((each) => ({ ...each, path: `${name}/${each.path}` }))));
}

/** Adds the archive as the OCI artifact that `helm push` makes of it. */
export function addChart(layout: Layout, description: ChartDescription, archive: Buffer, created: string): Descriptor {
  const { name, version } = description;
  return layout.addJson(MEDIA_TYPES.manifest, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: layout.addJson(MEDIA_TYPES.chartConfig, description),
    layers: [layout.add(MEDIA_TYPES.chart, archive)],
    annotations: {
      'org.opencontainers.image.title': name,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.description': description.description,
      'org.opencontainers.image.created': created,
    },
  });
}
