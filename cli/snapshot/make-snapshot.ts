import { ANNOTATION_SNAPSHOT_TIME } from '#shared/kube/api-names.ts';
import type { Manifest } from '#cli/manifests/manifest.ts';
import { keepFields } from './kept-fields.ts';
import type { Pseudonym } from './pseudonyms.ts';
import { redact } from './redact.ts';

/** A `v1` List of objects, reduced to what decisions read. */
export interface Snapshot {
  readonly apiVersion: 'v1';
  readonly kind: 'List';
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

/** Makes a snapshot of objects that were read at `takenAt` (RFC 3339); with pseudonyms it is redacted. */
export function makeSnapshot(manifests: readonly Manifest[], takenAt: string, pseudonym?: Pseudonym): Snapshot {
  const kept = manifests.map((manifest) => ({ ...manifest, raw: keepFields(manifest.kind, manifest.raw) }));
  const shown = pseudonym === undefined ? kept : redact(kept, pseudonym);
  return {
    apiVersion: 'v1',
    kind: 'List',
    metadata: { annotations: { [ANNOTATION_SNAPSHOT_TIME]: takenAt } },
    items: shown.map(({ apiVersion, kind, raw }) => ({ apiVersion, kind, ...raw })),
  };
}

/** JSON with one object a line, so that two snapshots can be compared by their lines. */
export function snapshotJson({ items, ...list }: Snapshot): string {
  const head = JSON.stringify(list).slice(0, -1);
  return `${head},"items":[\n${items.map((item) => JSON.stringify(item)).join(',\n')}\n]}\n`;
}
