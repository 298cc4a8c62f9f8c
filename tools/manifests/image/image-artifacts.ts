import { readFileSync } from 'node:fs';
import { billOfMaterials, type Lock } from './bill-of-materials.ts';
import { licenseList } from './license-list.ts';

/**
 * The description of the image's contents: a software bill of materials (CycloneDX) and a list of licenses. The image has
 * both in deploy/image.
 */
export function imageArtifacts(): readonly { readonly path: string; readonly text: string }[] {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
  const bill = billOfMaterials(lock, lock.packages['node_modules/node']?.version ?? '');
  return [
    { path: 'sbom.cdx.json', text: `${JSON.stringify(bill, undefined, 2)}\n` },
    { path: 'licenses.md', text: licenseList(bill.components) },
  ];
}
