import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { createObject } from '#shared/kube/client/objects.ts';
import { NAMESPACES, NODE_PRESSURE_POLICIES, NODE_PRESSURES, NODES, PODS } from '#shared/kube/resource.ts';
import { GUIDE_FILES } from '#test/cli/guide-files.ts';
import { folderWith, type Run, runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { sandboxCluster } from '#test/cli/sandbox-cluster.ts';
import { allCommands, PAGES, readPage } from './pages.ts';
import { shownCommands, shownFiles, type ShownCommand } from './shown-commands.ts';
import { whoRuns } from './who-runs.ts';

const POD =
  'kind: Pod\napiVersion: v1\nmetadata: { name: web }\nspec: { containers: [{ name: main, image: nginx }] }\n';
const PAGES_WITH_PLIMSOLL = PAGES.filter((page) => commandsOf(page).length > 0);

function commandsOf(page: string): readonly ShownCommand[] {
  return shownCommands(page, readPage(page)).filter((each) => whoRuns(each) === 'plimsoll');
}

/** A folder with the files that a page shows or speaks of. */
function folderOf(page: string): string {
  const folder = folderWith(page === 'docs/guides/command-line.md' ? GUIDE_FILES : shownFiles(readPage(page)));
  if (page === 'README.md') {
    mkdirSync(join(folder, 'manifests'));
    writeFileSync(join(folder, 'manifests', 'pod.yaml'), POD);
  }
  return folder;
}

function run(command: string, folder: string): Promise<Run> {
  const [program = '', ...args] = command.replace('npm run --silent plimsoll --', 'plimsoll').split(' ');
  expect(program).toBe('plimsoll');
  return runPlimsoll(args, '', folder);
}

test('it is known of every command of README and guides what runs it, or why nothing does', () => {
  const unknown = allCommands().filter((each) => whoRuns(each) === undefined);
  expect(unknown).toEqual([]);
  expect(allCommands().filter((each) => whoRuns(each) === 'kubectl').length).toBeGreaterThan(15);
});

describe.each(PAGES_WITH_PLIMSOLL)('the plimsoll commands of %s', (page) => {
  const folder = folderOf(page);
  const { kubeconfig } = sandboxCluster(async (client) => {
    await createObject(client, { resource: NAMESPACES }, { metadata: { name: 'payments' } });
    await createObject(client, { resource: NODES }, { metadata: { name: 'node-1', labels: { pool: 'batch' } } });
    const pod = { metadata: { name: 'web-0' }, spec: { containers: [{ name: 'main', image: 'nginx' }] } };
    await createObject(client, { resource: PODS, namespace: 'payments' }, pod);
    await installPlimsoll(client);
    const spec = { nodeSelector: { matchLabels: { pool: 'batch' } } };
    await createObject(client, { resource: NODE_PRESSURE_POLICIES }, { metadata: { name: 'batch' }, spec });
    await createObject(client, { resource: NODE_PRESSURES }, { metadata: { name: 'node-1' } });
  });
  let last: Run | undefined;
  afterEach(() => vi.unstubAllEnvs());

  test.each(commandsOf(page))('$command', async ({ command, output }) => {
    vi.stubEnv('KUBECONFIG', kubeconfig);
    if (command === 'echo $?') {
      expect(`${String(last?.code)}\n`).toBe(output);
      return;
    }
    // A snapshot would replace the file that the other commands read.
    last = await run(command, command.includes(' snapshot ') ? folderWith({}) : folder);
    expect(last.stderr.startsWith('error:'), last.stderr).toBe(false);
    if (output !== '') expect(last.stdout).toBe(output);
  });
});
