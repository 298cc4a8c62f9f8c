import { describe, expect, test } from 'vitest';
import { listAllowed } from '#cli/check/account-rights.ts';
import { preInstallFindings } from '#cli/check/pre-install-findings.ts';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import { createObject } from '#shared/kube/client/objects.ts';
import type { Failure } from '#shared/kube/client/outcome.ts';
import { NAMESPACES, NODES } from '#shared/kube/resource.ts';
import { itemsIn, runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { sandboxCluster } from '#test/cli/sandbox-cluster.ts';

const NOTHING = { manifests: [], unread: new Set<string>(), findings: [] };
const KINDS = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'];
const SERVED = [...KINDS, 'validatingadmissionpolicies', 'validatingadmissionpolicybindings'];

interface Server {
  readonly version?: object;
  readonly served?: readonly string[];
  readonly isAllowed?: (attributes: string) => boolean;
  readonly refusal?: Failure;
}

const V1_36 = { major: '1', minor: '36', gitVersion: 'v1.36.3' };

function server({ version = V1_36, served = SERVED, isAllowed = () => true, refusal }: Server) {
  const answer = ({ path, body }: KubeRequest): object => {
    if (path === '/version') return version;
    if (path.startsWith('/apis/admission')) return { resources: served.map((name) => ({ name })) };
    return { status: { allowed: isAllowed(JSON.stringify(fieldOf(fieldOf(body, 'spec'), 'resourceAttributes'))) } };
  };
  return {
    request: (request: KubeRequest) =>
      Promise.resolve(refusal ?? ({ kind: 'ok', warnings: [], object: answer(request) } as const)),
  };
}

async function found(options: Server, lists: Parameters<typeof preInstallFindings>[1] = NOTHING) {
  return (await preInstallFindings(server(options), lists)).map(({ level, text }) => [level, text]);
}

const FINE = [
  ['OK', 'the API server has version v1.36.3'],
  ['OK', 'webhooks and admission policies can be registered'],
  ['OK', 'you have the 38 rights that the installation needs'],
];

describe('preInstallFindings', () => {
  test('all is well', async () => {
    expect(await found({})).toEqual(FINE);
  });

  test.each<[string, object, string, string]>([
    [
      'too old',
      { major: '1', minor: '29+', gitVersion: 'v1.29.1-eks' },
      'Error',
      'the API server has version v1.29.1-eks, and Plimsoll needs 1.30 or newer',
    ],
    [
      'of a provider',
      { major: '1', minor: '30+', gitVersion: 'v1.30.0-gke' },
      'OK',
      'the API server has version v1.30.0-gke',
    ],
    ['unreadable', { gitVersion: 'x' }, 'Error', 'cannot read the version of the API server: x'],
  ])('a version that is %s', async (_, version, level, text) => {
    expect((await found({ version }))[0]).toEqual([level, text]);
  });

  test('an admission API without policies', async () => {
    const texts = ['validatingadmissionpolicybindings', 'validatingadmissionpolicies'].map((name) => [
      'Error',
      `the API server does not serve ${name}.admissionregistration.k8s.io`,
    ]);
    expect(await found({ served: KINDS })).toEqual([FINE[0], ...texts, FINE[2]]);
  });

  test('rights of the caller that are missing', async () => {
    const isAllowed = (attributes: string) => !/"(?:daemonsets|clusterroles)".*"(?:patch|bind)"/.test(attributes);
    expect((await found({ isAllowed })).slice(2)).toEqual([
      ['Error', 'you may not patch daemonsets.apps'],
      ['Error', 'you may not patch clusterroles.rbac.authorization.k8s.io'],
      ['Error', 'you may not bind clusterroles.rbac.authorization.k8s.io'],
    ]);
  });

  test('an API server that answers nothing', async () => {
    const texts = (await found({ refusal: { kind: 'forbidden', message: 'no' } })).map(([level]) => level);
    expect(new Set(texts)).toEqual(new Set(['Error', 'Warning']));
  });
});

describe('listAllowed', () => {
  const client = (failure: Failure) =>
    ({
      request: ({ path }: KubeRequest) =>
        Promise.resolve(
          path.endsWith('/nodes')
            ? failure
            : ({
                kind: 'ok',
                warnings: [],
                object: { metadata: {}, items: [{ metadata: { name: 'shop' } }] },
              } as const),
        ),
    }) as KubeClient;

  test('a kind that may not be listed is found, and the others are read', async () => {
    const { manifests, unread, findings } = await listAllowed(client({ kind: 'forbidden', message: 'no' }), [
      NODES,
      NAMESPACES,
    ]);
    expect({ read: manifests.map(({ kind }) => kind), unread, texts: findings.map(({ text }) => text) }).toEqual({
      read: ['Namespace'],
      unread: new Set(['Node']),
      texts: ['you may not list nodes: no'],
    });
  });

  test('a server that does not answer is no finding', async () => {
    await expect(listAllowed(client({ kind: 'unreachable', message: 'away' }), [NODES])).rejects.toThrow(
      'cluster: cannot list nodes: away',
    );
  });
});

describe('plimsoll check on a cluster', () => {
  const { kubeconfig, client } = sandboxCluster(async (admin) => {
    await createObject(admin, { resource: NODES }, { metadata: { name: 'n1' } });
  });
  const check = async (...args: readonly string[]) => {
    const { code, stdout } = await runPlimsoll(['check', '--kubeconfig', kubeconfig, '-o', 'json', ...args]);
    const findings = itemsIn(stdout) as readonly { readonly level: string; readonly subject: string }[];
    return { code, findings: findings.map(({ level, subject }) => `${level} ${subject}`) };
  };
  const POSSIBLE = ['OK version', 'OK admission', 'OK caller'];

  test('--pre-install, where nothing is installed', async () => {
    expect(await check('--pre-install')).toEqual({ code: 0, findings: [...POSSIBLE, 'Warning nodes'] });
  });

  test('--pre-install, where it was installed; and without the flag what is missing is an error', async () => {
    await installPlimsoll(client());
    const expected = [...POSSIBLE, 'Warning definitions', 'Warning nodes'];
    expect(await check('--pre-install')).toEqual({ code: 0, findings: expected });
    const { code, findings } = await check();
    expect({ code, findings }).toMatchObject({
      code: 1,
      findings: expect.arrayContaining(['Error agents']) as string[],
    });
  });

  test('--pre-install asks a cluster, not files', async () => {
    const { code, stderr } = await runPlimsoll(['check', '--pre-install', '-f', '-']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "error: '--pre-install' and '--filename' exclude each other\n",
    });
  });
});
