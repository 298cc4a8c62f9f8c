import type { BomComponent } from './bill-of-materials.ts';

/** Licenses that allow distribution in an image. SPDX identifiers. */
const ACCEPTED = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'PSF-2.0',
  'Unlicense',
] as const;
type License = (typeof ACCEPTED)[number];

const HEADING = `# Licenses of what is in the image

Made from package-lock.json; \`sbom.cdx.json\` lists the same packages with their hashes. The text of a license is in its package, below \`/app/node_modules\`. The base image lists its own packages below \`/var/lib/dpkg\`.
`;

/** The components under each license. Throws, naming it, on a component whose license is not accepted. */
export function licenseList(components: readonly BomComponent[]): string {
  const licensed = components.map((component) => ({ component, license: licenseOf(component) }));
  const sections = ACCEPTED.map((license) =>
    section(
      license,
      licensed.filter((each) => each.license === license).map(({ component }) => component),
    ),
  );
  return HEADING + sections.join('');
}

function section(license: License, components: readonly BomComponent[]): string {
  if (components.length === 0) return '';
  return `\n## ${license}\n\n${components.map(({ name, version }) => `- ${name} ${version}\n`).join('')}`;
}

function licenseOf({ name, version, licenses }: BomComponent): License {
  const stated = licenses[0]?.expression;
  const accepted = ACCEPTED.find((each) => each === stated);
  if (accepted !== undefined) return accepted;
  const found = stated === undefined ? 'none' : `"${stated}"`;
  throw new Error(`cannot ship ${name} ${version}: license ${found}, expected one of ${ACCEPTED.join(', ')}`);
}
