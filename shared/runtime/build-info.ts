import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Labels of `plimsoll_build_info`. */
export interface BuildInfo {
  readonly component: string;
  readonly version: string;
  readonly commit: string;
  readonly node_version: string;
}

const packageFile = z.object({ version: z.string(), commit: z.string().default('unknown') });

/** Version and commit of this build: package.json, where an image build writes `commit`. */
export function buildInfo(component: string): BuildInfo {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version, commit } = packageFile.parse(JSON.parse(text));
  return { component, version, commit, node_version: process.versions.node };
}
