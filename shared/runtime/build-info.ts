import packageFile from '#package.json' with { type: 'json' };

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
  readonly commitDate?: string;
}

const { version, commit = 'unknown', commitDate = 'unknown' }: PackageFile = packageFile;

/**
 * Version and commit of this build, from package.json; the builds of images and of the command line write `commit`
 * there.
 */
export function buildInfo(component: string): BuildInfo {
  return { component, version, commit, node_version: process.versions.node };
}

/** Time of that commit, in RFC 3339; `unknown` in a checkout. */
export const COMMIT_DATE = commitDate;
