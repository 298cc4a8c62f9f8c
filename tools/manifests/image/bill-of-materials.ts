import { compareTexts } from '#shared/domain/base/texts.ts';

/** What npm knows about an installed package: an entry of `packages` in package-lock.json. */
export interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  /** Not in the image. */
  readonly dev?: boolean;
}

export interface Lock {
  /** By folder, `node_modules/a/node_modules/b`; the empty one is this repository. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** One part of the image, as CycloneDX writes it. The hash is hexadecimal. */
export interface BomComponent {
  readonly 'bom-ref': string;
  readonly type: 'application' | 'library' | 'platform';
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses: readonly { readonly expression: string }[];
}

/** A software bill of materials, CycloneDX 1.5. */
export interface BillOfMaterials {
  readonly $schema: string;
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.5';
  readonly version: number;
  readonly metadata: { readonly component: BomComponent };
  readonly components: readonly BomComponent[];
}

/** The packages that `npm ci --omit=dev` installs, by folder. */
export function shippedPackages({ packages }: Lock): readonly (readonly [folder: string, LockedPackage])[] {
  return Object.entries(packages).filter(([folder, { dev }]) => folder !== '' && dev !== true);
}

/**
 * The bill of materials of the image: the packages that `npm ci --omit=dev` installs, and Node. Without time and serial
 * number, so that it is the same for the same lock. The base image has its own list. `npm sbom --omit dev` is not used:
 * it leaves out packages that development needs as well (npm 11.19).
 */
export function billOfMaterials(lock: Lock, nodeVersion: string): BillOfMaterials {
  const shipped = shippedPackages(lock);
  const components = [...shipped.map(([folder, found]) => packageComponent(folder, found)), nodeComponent(nodeVersion)];
  const unique = new Map(components.map((each) => [each['bom-ref'], each]));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: productComponent(lock.packages['']) },
    components: [...unique.values()].toSorted((a, b) => compareTexts(a['bom-ref'], b['bom-ref'])),
  };
}

function packageComponent(folder: string, { version = '', integrity = '', license }: LockedPackage): BomComponent {
  const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const content = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
  return {
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    hashes: [{ alg: 'SHA-512', content }],
    licenses: license === undefined ? [] : [{ expression: license }],
  };
}

function productComponent({ version = '', license = '' }: LockedPackage = {}): BomComponent {
  const reference = `plimsoll@${version}`;
  const licenses = [{ expression: license }];
  return {
    'bom-ref': reference,
    type: 'application',
    name: 'plimsoll',
    version,
    purl: `pkg:npm/${reference}`,
    licenses,
  };
}

function nodeComponent(version: string): BomComponent {
  const reference = `node@${version}`;
  const licenses = [{ expression: 'MIT' }];
  return { 'bom-ref': reference, type: 'platform', name: 'node', version, purl: `pkg:generic/${reference}`, licenses };
}
