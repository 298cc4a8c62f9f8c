import { fileURLToPath } from 'node:url';
import { type Environment, goPrograms, type GoRecipe, type Programs } from './go-programs.ts';

/** The version that go/helm/go.mod pins. */
export const HELM_VERSION = '4.3.1';

const HELM: GoRecipe<'helm'> = {
  name: `helm-${HELM_VERSION}`,
  module: fileURLToPath(new URL('../../go/helm/', import.meta.url)),
  programs: ['helm'],
  builds: (folder) => [
    [
      '-ldflags',
      `-s -w -X helm.sh/helm/v4/internal/version.version=v${HELM_VERSION}`,
      '-o',
      `${folder}/helm`,
      'helm.sh/helm/v4/cmd/helm',
    ],
  ],
};

/** Looks in the user's cache folder, and builds there what is missing. */
export function findHelm(env: Environment): Programs<'helm'> {
  return goPrograms(HELM, env);
}
