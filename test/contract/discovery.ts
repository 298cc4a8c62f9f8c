import { expect, test } from 'vitest';
import { createTransport } from '#shared/kube/client/connection.ts';
import { at, contractHarness, type ContractTarget, refusal } from './harness.ts';

/** The version of the sandbox, and of a real cluster unless another one is under test. */
const NEWEST = '1.36';

/** Discovery, health, and what a client gets that asks for nothing there is. */
export function discoveryContract(target: () => ContractTarget): void {
  const api = contractHarness(target);

  test('tells its version', async () => {
    const version = target().kind === 'real' ? (process.env['PLIMSOLL_KUBERNETES'] ?? NEWEST) : NEWEST;
    const { status, body } = await api.get('/version');
    expect(status).toBe(200);
    expect(body).toMatchObject({ gitVersion: expect.stringContaining(`v${version}.`) as string });
    const { major, minor } = body as { readonly major: string; readonly minor: string };
    expect(`${major}.${minor}`).toBe(version);
  });

  test.each(['/livez', '/readyz', '/healthz'])('%s is plain text', async (path) => {
    expect(await api.get(path)).toMatchObject({ status: 200, text: 'ok' });
  });

  test('lists the core version and the groups', async () => {
    expect((await api.get('/api')).body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    const { body } = await api.get('/apis');
    expect(body).toMatchObject({ kind: 'APIGroupList', apiVersion: 'v1' });
    const groups = at(body, 'groups') as readonly { name: string; preferredVersion: { version: string } }[];
    const preferred = Object.fromEntries(groups.map(({ name, preferredVersion: { version } }) => [name, version]));
    expect(preferred).toMatchObject({
      apps: 'v1',
      policy: 'v1',
      'scheduling.k8s.io': 'v1',
      'events.k8s.io': 'v1',
      'coordination.k8s.io': 'v1',
      'admissionregistration.k8s.io': 'v1',
      'apiextensions.k8s.io': 'v1',
    });
  });

  test('lists the resources of a version with their verbs and subresources', async () => {
    const { body } = await api.get('/api/v1');
    expect(body).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' });
    const resources = at(body, 'resources') as readonly { name: string }[];
    const byName = new Map(resources.map((resource) => [resource.name, resource]));
    expect(byName.get('pods')).toMatchObject({
      singularName: 'pod',
      namespaced: true,
      kind: 'Pod',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['po'],
      categories: ['all'],
    });
    expect(byName.get('pods/eviction')).toMatchObject({
      group: 'policy',
      version: 'v1',
      kind: 'Eviction',
      verbs: ['create'],
    });
    expect(byName.get('pods/status')).toMatchObject({ kind: 'Pod', verbs: ['get', 'patch', 'update'] });
    expect(byName.get('nodes')).toMatchObject({ namespaced: false, shortNames: ['no'] });
  });

  test('knows nothing of an unknown group', async () => {
    expect(await api.get('/apis/nope.dev/v1/things')).toMatchObject({ status: 404, text: '404 page not found\n' });
  });

  test.each(['/api/v1/things', '/apis/apps/v9/deployments'])('answers 404 for %s', async (path) => {
    const { status, body } = await api.get(path);
    expect(status).toBe(404);
    expect(body).toMatchObject(refusal(404, 'NotFound', 'the server could not find the requested resource'));
  });

  test('answers 405 for a method that a resource does not have', async () => {
    const { status, body } = await api.put(api.core('configmaps'), {});
    expect(status).toBe(405);
    const message = 'the server does not allow this method on the requested resource';
    expect(body).toMatchObject(refusal(405, 'MethodNotAllowed', message));
  });

  test('answers 401 for a wrong token', async () => {
    const { server, ca } = target().connection;
    const connection = { server, ...(ca === undefined ? {} : { ca }), token: () => Promise.resolve('wrong') };
    const transport = createTransport(connection, 'plimsoll-contract');
    const response = await transport.send({ path: '/api/v1/pods' }, AbortSignal.timeout(10_000));
    response.resume();
    transport.close();
    expect(response.statusCode).toBe(401);
  });

  test('offers OpenAPI v3 by group and version', async () => {
    const { status, body } = await api.get('/openapi/v3');
    expect(status).toBe(200);
    const url = at(body, 'paths.api/v1.serverRelativeURL');
    expect(url).toEqual(expect.stringContaining('/openapi/v3/api/v1'));
  });
}
