import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { writtenManifests } from '#test/build/written-manifests.ts';
import { runKubectl } from '#test/cluster/installed/support/run-kubectl.ts';
import { allCommands } from '#test/docs/pages.ts';
import type { ShownCommand } from '#test/docs/shown-commands.ts';
import { whoRuns } from '#test/docs/who-runs.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const WITHIN_MS = 120_000;
/** What the words in capitals of the pages stand for here. */
const NAMES: Readonly<Record<string, string>> = {
  NODE: 'node-1',
  NAMESPACE: 'default',
  NAME: 'default',
  USER: 'alice',
  QUOTA: 'high-tier',
};
/** What the pages assume to be there. */
const EXISTING: readonly object[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monitoring' } },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'research' } },
  { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' }, spec: { taints: taints() } },
  { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name: 'node-1' } },
];

function taints(): readonly object[] {
  return ['memory', 'cpu', 'io'].map((name) => ({ key: `plimsoll.dev/${name}-pressure`, effect: 'NoSchedule' }));
}

const why = whyNoOwnCluster(process.env);

/** The arguments of kubectl: words in quotes stay together, files are those of the repository. */
function argumentsOf(command: string): readonly string[] {
  const words = Array.from(command.matchAll(/(?:'[^']*'|[^\s'])+/g), ([word]) => word.replaceAll("'", ''));
  return words.slice(1).map((word) => {
    const path = word.startsWith('deploy/') ? `${ROOT}${word}` : word.replace(/^dist\//, () => writtenManifests());
    return path.replace(/(?<==|^)(NODE|NAMESPACE|NAME|USER|QUOTA)$/, (name) => NAMES[name] ?? name);
  });
}

function removes({ command }: ShownCommand): boolean {
  return command.startsWith('kubectl delete ');
}

/** Whatever removes Plimsoll comes last; each of these commands finds all of it in place. */
function inOrder(commands: readonly ShownCommand[]): readonly ShownCommand[] {
  return [...commands.filter((each) => !removes(each)), ...commands.filter(removes)];
}

describe.skipIf(why !== undefined)(`the kubectl commands of README and guides${why ?? ''}`, () => {
  const own = ownCluster();

  const install = () =>
    runKubectl(own().cluster.kubeconfig, ['apply', '--server-side', '-f', `${writtenManifests()}install.yaml`]);

  beforeAll(async () => {
    const { kubeconfig } = own().cluster;
    await install();
    for (const object of EXISTING) await runKubectl(kubeconfig, ['create', '-f', '-'], JSON.stringify(object));
  });

  test.each(inOrder(allCommands().filter((each) => whoRuns(each) === 'kubectl')))(
    '$page: $command',
    { timeout: WITHIN_MS },
    async ({ command, output, page }) => {
      if (removes({ command, output, page })) await install();
      const printed = await runKubectl(own().cluster.kubeconfig, argumentsOf(command));
      if (output !== '') expect(printed).toBe(output);
    },
  );
});
