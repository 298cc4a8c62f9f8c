import { fieldOf } from '#shared/kube/kube-object.ts';

/** One object as a file or the cluster holds it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Readonly<Record<string, unknown>>;
  /** For messages: `team.yaml: document 2, item 3`. */
  readonly where: string;
  /** When the snapshot that it stands in was taken, RFC 3339. */
  readonly takenAt?: string | undefined;
}

const POD = 'v1 Pod';

/** `apiVersion` and `kind` as one text: the key of tables by kind. */
export function typeOf({ apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>): string {
  return `${apiVersion} ${kind}`;
}

/** `metadata.name`, else `metadata.generateName`, else empty. */
export function nameOf({ raw }: Manifest): string {
  return metadataText(raw, 'name') || metadataText(raw, 'generateName');
}

/** `metadata.namespace`, or the one given where the object names none. */
export function namespaceOf({ raw }: Manifest, fallback: string): string {
  return metadataText(raw, 'namespace') || fallback;
}

function metadataText(raw: unknown, field: string): string {
  const value = fieldOf(fieldOf(raw, 'metadata'), field);
  return typeof value === 'string' ? value : '';
}

/** Whether it is a pod, rather than something that makes pods. */
export function isPod(manifest: Manifest): boolean {
  return typeOf(manifest) === POD;
}
