import { readFileSync } from 'node:fs';

/** Labels of `plimsoll_build_info`. */
export interface BuildInfo {
  readonly component: string;
  readonly version: string;
  readonly commit: string;
  readonly node_version: string;
}

interface PackageFile {
  readonly version: string;
  readonly commit?: string;
}

/** Version and commit of this build: package.json, where an image build writes `commit`. */
export function buildInfo(component: string): BuildInfo {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version, commit = 'unknown' } = JSON.parse(text) as PackageFile;
  return { component, version, commit, node_version: process.versions.node };
}
