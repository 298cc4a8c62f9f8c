import { afterEach, describe, expect, test, vi } from 'vitest';
import { setup } from './setup.ts';

describe('what the tests run on', () => {
  const provided: unknown[] = [];
  const project = { provide: (key: string, value: unknown) => void provided.push([key, value]) };
  afterEach(() => {
    provided.length = 0;
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  test('on the cluster that PLIMSOLL_TEST_KUBECONFIG names, if it is set', async () => {
    vi.stubEnv('PLIMSOLL_TEST_KUBECONFIG', '/somewhere/kubeconfig');
    const close = await setup(project);
    const folder = expect.stringMatching(/^\/.*\/plimsoll-cluster-/) as string;
    expect(provided).toEqual([
      ['kubeconfig', '/somewhere/kubeconfig'],
      ['runFolder', folder],
    ]);
    await close();
  });

  test('on nothing when programs are missing, and that is said', async () => {
    vi.stubEnv('PLIMSOLL_TEST_KUBECONFIG', undefined);
    vi.stubEnv('CI', undefined);
    vi.stubEnv('KUBEBUILDER_ASSETS', '/nowhere');
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    await (
      await setup(project)
    )();
    expect(provided).toEqual([
      ['kubeconfig', ''],
      ['runFolder', ''],
    ]);
    expect(said.mock.calls).toEqual([
      [expect.stringMatching(/^\nnot run: tests on a real Kubernetes, because no etcd, .* in \/nowhere\n\n$/)],
    ]);
  });

  test('missing programs are a failure where CI is set', async () => {
    vi.stubEnv('PLIMSOLL_TEST_KUBECONFIG', undefined);
    vi.stubEnv('CI', 'true');
    vi.stubEnv('KUBEBUILDER_ASSETS', '/nowhere');
    await expect(setup(project)).rejects.toThrow(/^no real Kubernetes: no etcd, .* in \/nowhere$/);
    expect(provided).toEqual([]);
  });
});
