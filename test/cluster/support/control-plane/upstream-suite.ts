import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Environment, goPrograms, type GoRecipe, type Programs } from './go-programs.ts';

/** What became of one specification of the upstream end-to-end suite. */
export interface UpstreamResult {
  readonly text: string;
  readonly state: string;
  /** What it says about its failure. */
  readonly message: string;
}

interface Report {
  readonly SpecReports: readonly {
    readonly LeafNodeText: string;
    readonly State: string;
    readonly Failure?: { readonly Message: string };
  }[];
}

/** Of the suite, which go/e2e/go.mod pins; one is enough, as it tests what no version changed. */
const KUBERNETES_VERSION = '1.36.3';
const MAX_OUTPUT = 64 * 1024 * 1024;
const VERSION_FLAG = `k8s.io/component-base/version.gitVersion=v${KUBERNETES_VERSION}`;
const SUITE: GoRecipe<'e2e'> = {
  name: `e2e-${KUBERNETES_VERSION}`,
  module: fileURLToPath(new URL('../../go/e2e/', import.meta.url)),
  programs: ['e2e'],
  builds: (folder) => [['-ldflags', `-s -w -X ${VERSION_FLAG}`, '-o', `${folder}/`, '.']],
};

/** The suite that go/e2e makes of the upstream sources. */
export function findUpstreamSuite(env: Environment): Programs<'e2e'> {
  return goPrograms(SUITE, env);
}

/** Runs what matches `focus` on a cluster, reports into the folder, and answers everything that was not skipped. */
export async function runUpstreamSuite(
  program: string,
  { kubeconfig, focus, folder }: { readonly kubeconfig: string; readonly focus: string; readonly folder: string },
): Promise<readonly UpstreamResult[]> {
  const report = join(folder, 'report.json');
  const args = [`--kubeconfig=${kubeconfig}`, '--provider=skeleton', `--ginkgo.focus=${focus}`];
  const options = { cwd: folder, maxBuffer: MAX_OUTPUT };
  // It fails when a specification does; the report says which.
  await promisify(execFile)(program, [...args, `--ginkgo.json-report=${report}`], options).catch((error: unknown) => {
    if (!existsSync(report)) throw new Error('the upstream suite left no report', { cause: error });
  });
  const [suite] = JSON.parse(readFileSync(report, 'utf8')) as readonly Report[];
  return (suite?.SpecReports ?? [])
    .filter(({ State }) => State !== 'skipped')
    .map(({ LeafNodeText, State, Failure }) => ({ text: LeafNodeText, state: State, message: Failure?.Message ?? '' }));
}
