import { readFileSync } from 'node:fs';
import type { Artifact } from '#tools/generate/artifact.ts';
import { billOfMaterials, type Lock } from './bill-of-materials.ts';
import { licenseList } from './license-list.ts';

const FOLDER = 'deploy/image';

/**
 * The description of the image's contents: a software bill of materials (CycloneDX) and a list of licenses. Both are
 * copied into it.
 */
export function imageArtifacts(): readonly Artifact[] {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
  const bill = billOfMaterials(lock, lock.packages['node_modules/node']?.version ?? '');
  return [
    { path: `${FOLDER}/sbom.cdx.json`, text: JSON.stringify(bill) },
    { path: `${FOLDER}/licenses.md`, text: licenseList(bill.components) },
  ];
}
