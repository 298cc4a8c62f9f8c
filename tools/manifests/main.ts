/**
 * `npm run manifests` makes what is installed from deploy/ and package-lock.json, in dist/: install.yaml, the Helm chart in
 * chart/, and the bill of materials and licenses of the image. It needs no network and no other program.
 */
import { writeManifests } from './manifest-artifacts.ts';

const FOLDER = 'dist';

const written = writeManifests(FOLDER);
console.log(`${FOLDER}: install.yaml, chart, sbom.cdx.json, licenses.md (${written.length} files)`);
