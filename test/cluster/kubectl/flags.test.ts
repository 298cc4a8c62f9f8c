import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createProgram, flagsBehind } from '#cli/program.ts';
import { hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { kubectlProgram } from '#test/cluster/support/control-plane/kubectl.ts';

/** Words that may stand together on a command line. */
const PARTS = [
  ...['-n x', '-n=x', '-nx', '--namespace x', '--namespace=y', '--namespace=', '-n=', '-n -A', '-n --', '-n', '-n==x'],
  ...['-A', '-A=true', '-A=false', '-A=0', '-A=', '--all-namespaces', '--all-namespaces=F', '--all-namespaces=yes'],
  ...['--all-namespaces true', '-An x', '-An=x', '-Anx', '-nA', '-Al c=d', '-Aojson', '-Ax', '--names x', '--all'],
  ...['-o=json', '-ojson', '-o json', '--output=json', '-o wide -o name', '--sort-by=.metadata.name'],
  ...['-l a=b', '-l=a=b', '-la=b', '--selector=a=b', '--selector a=b', '-lA', '--no-headers', '--no-headers=1'],
  ...['--no-headers=false', '--as=u', '--as u --as-group g --as-group=h', '--as-group=g', '--as=u --as-uid 1'],
  ...['--request-timeout=5s', '--request-timeout 5', '--request-timeout=x', '-x', '--foo=1'],
  ...['---x', '--=x', '--n=x', '-N x'],
];

/** What may follow them: kubectl takes several names. */
const ENDS = ['', '', '--', '-- p', '-', 'pod'];

/** What is asked for: refused, or the path, whether a selector is set, and as whom. */
type Asked = 'refused' | readonly [string, boolean, string];

const ANSWERS: Readonly<Record<string, object>> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', groups: [] },
  '/api/v1': {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [{ name: 'pods', namespaced: true, kind: 'Pod', verbs: ['get', 'list'] }],
  },
};

/** An API server that knows pods and no other kind, and keeps what is asked of pods. */
async function startServer() {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://server');
    const { 'impersonate-user': user = '', 'impersonate-group': groups = '' } = request.headers;
    if (pathname.includes('/pods'))
      asked.push([
        decodeURIComponent(pathname),
        searchParams.has('labelSelector'),
        `${String(user)} ${String(groups)}`,
      ]);
    response.setHeader('content-type', 'application/json');
    const object = { kind: 'PodList', apiVersion: 'v1', metadata: { name: 'p' }, items: [] };
    response.end(JSON.stringify(ANSWERS[pathname] ?? object));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, take: () => asked.splice(0)[0], close: () => server.close() };
}

async function askKubectl(url: string, folder: string, args: readonly string[]): Promise<void> {
  const env = { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: join(folder, 'none') };
  const given = ['--server', url, 'get', 'pods', ...args];
  await once(spawn(kubectlProgram(), given, { env, stdio: 'ignore' }), 'close');
}

interface AskedFor {
  readonly namespace?: string;
  readonly allNamespaces: boolean;
  readonly selector?: object;
  readonly as?: string;
  readonly asGroup?: readonly string[];
}

/** What `plimsoll why-not` would ask for with these arguments, without carrying it out. */
async function askOurselves(args: readonly string[]): Promise<Asked> {
  const nothing = () => undefined;
  const program = createProgram('plimsoll', { print: nothing, tell: nothing, exit: nothing } as never);
  let found: Asked = 'refused';
  for (const command of program.commands) command.configureOutput({ writeErr: nothing, writeOut: nothing });
  program.commands
    .find((command) => command.name() === 'why-not')
    ?.action((pod: string | undefined, options: AskedFor) => void (found = asRequest(pod, options)));
  await program.parseAsync(flagsBehind(program, ['why-not', ...args]), { from: 'user' }).catch(nothing);
  return found;
}

/** Refusals that come after the flags are read are tested elsewhere. */
function asRequest(pod: string | undefined, { namespace = 'default', ...options }: AskedFor): Asked {
  const { allNamespaces, selector, as, asGroup = [] } = options;
  const isAmong = pod !== undefined && (allNamespaces || selector !== undefined);
  if (isAmong || (asGroup.length > 0 && as === undefined)) return 'refused';
  const where = allNamespaces ? '' : `/namespaces/${namespace}`;
  const name = pod === undefined ? '' : `/${pod}`;
  return [`/api/v1${where}/pods${name}`, selector !== undefined, [as, asGroup.join(', ')].join(' ')];
}

describe.runIf(hasCluster())('flags are read as kubectl reads them', () => {
  test('40 command lines', { timeout: 120_000 }, async () => {
    const server = await startServer();
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-flags-'));
    const parts = fc.array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 3 });
    const lines = fc.tuple(parts, fc.constantFrom(...ENDS)).map(([some, end]) => [...some, end].join(' ').trim());
    for (const line of fc.sample(lines, { numRuns: 40, seed: 7 })) {
      const args = line.split(' ');
      await askKubectl(server.url, folder, args);
      const theirs = server.take() ?? 'refused';
      expect({ args, asked: await askOurselves(args) }).toEqual({ args, asked: theirs });
    }
    server.close();
    rmSync(folder, { recursive: true });
  });
});
